-- SPDX-License-Identifier: BSD-3-Clause
-- causeway_udp.lua - Wireshark dissector for the packets of src/uct/udp.
--
--   tshark -X lua_script:causeway_udp.lua -r capture.pcapng
--   cp causeway_udp.lua ~/.local/lib/wireshark/plugins/
--
-- Finds its packets on any port: by version, kind, lengths and zero bytes, which
-- noise has once in some 10,000. "Decode As" forces it. The byte maps are in
-- docs/transports/udp.md; the tags cannot be checked here, their key is not on
-- the wire. Bodies of encrypted connections are shown as such: who wants to
-- know must have seen the handshake, or set the preference.

local cw = Proto("causeway_udp", "Causeway udp")

local VERSION, HEAD, TRAILER, LONGEST = 1, 32, 24, 65504
local AM, CHUNK, PUT, GET, DATA, ATOMIC, RESULT, FIN = 0, 1, 2, 3, 4, 5, 6, 7
local ACK, PING, PONG, PIECE, RESET = 8, 9, 10, 11, 12
local HELLO, COOKIE, CONNECT, ACCEPT = 13, 14, 15, 16

local kinds = {
    [0] = "AM", "CHUNK", "PUT", "GET", "DATA", "ATOMIC", "RESULT", "FIN",
    "ACK", "PING", "PONG", "PIECE", "RESET", "HELLO", "COOKIE", "CONNECT",
    "ACCEPT",
}
local extension_bytes = {
    [0] = 0, 16, 24, 24, 16, 40, 16, 0, 0, 0, 8, 8, 8, 40, 40, 40, 40,
}
local ciphers = {
    [0] = "none", "ChaCha20-Poly1305", "AES-256-GCM", "either of two",
}

-- ------------------------------------------------------------------ fields

local f = {}
local list = {}

local function field(name, make, label, ...)
    f[name] = make("cw." .. name, label, ...)
    list[#list + 1] = f[name]
end

local u8, u16, u32, u64 = ProtoField.uint8, ProtoField.uint16,
                          ProtoField.uint32, ProtoField.uint64
local DEC, HEX = base.DEC, base.HEX

field("to", u32, "To connection", HEX)
field("number", u32, "Number", DEC)
field("ack", u32, "Acknowledges all before", DEC)
field("window", u16, "Window, segments", DEC)
field("version", u8, "Version", DEC, nil, 0xe0)
field("kind", u8, "Kind", DEC, kinds, 0x1f)
field("flags", u8, "Flags", HEX)
field("flags.any_order", ProtoField.bool, "Any order", 8, nil, 0x01)
field("flags.last", ProtoField.bool, "Last", 8, nil, 0x02)
field("flags.ack_now", ProtoField.bool, "Acknowledge at once", 8, nil, 0x04)
field("flags.bundle", ProtoField.bool, "Several messages", 8, nil, 0x08)
field("flags.refused", ProtoField.bool, "Known to be refused", 8, nil, 0x10)
field("am_id", u8, "Active message id", DEC)
field("attempt", u8, "Attempt", DEC)
field("newest_attempt", u8, "Attempt of the newest", DEC)
field("newest", u16, "Newest segment, low half", DEC)
field("delay_us", u16, "Microseconds since it arrived", DEC)
field("tag", u64, "Tag", HEX)
field("message", u32, "Message", DEC)
field("offset", u64, "Offset", DEC)
field("total", u32, "Total bytes", DEC)
field("key", u64, "Key of the region", HEX)
field("address", u64, "Address", HEX)
field("operation", u32, "Operation", DEC)
field("length", u32, "Length", DEC)
field("atomic", u8, "Atomic operation", DEC)
field("size", u8, "Bytes of the word", DEC)
field("operand", u64, "Operand", HEX)
field("compare", u64, "Compare", HEX)
field("status", ProtoField.int32, "Status", DEC)
field("value", u64, "Value", HEX)
field("ping", u32, "Number of the PING", DEC)
field("ping_bytes", u32, "Bytes of the PING", DEC)
field("piece", u32, "Piece of segment", DEC)
field("end", u32, "Number behind the last segment", DEC)
field("id", u32, "The sender's connection", HEX)
field("buffer", u32, "Socket buffer, bytes", DEC)
field("incarnation", u64, "Incarnation", HEX)
field("nonce", u64, "Nonce", HEX)
field("cookie", u64, "Cookie", HEX)
field("largest", u32, "Longest packet, bytes", DEC)
field("data_port", u16, "Data port", DEC)
field("ciphers", u16, "Ciphers", DEC, ciphers)
field("range", ProtoField.string, "Range")
field("range.first", u32, "First that arrived", DEC)
field("range.end", u32, "First behind it", DEC)
field("payload", ProtoField.bytes, "Payload")
field("payload_bytes", u32, "Payload bytes", DEC)
field("encrypted", ProtoField.bytes, "Encrypted body")
field("counter", u64, "Counter", DEC)
field("aead_tag", ProtoField.bytes, "AEAD tag")
cw.fields = list

local e = {
    again = ProtoExpert.new("cw.again", "Sent again",
                            expert.group.SEQUENCE, expert.severity.NOTE),
    twice = ProtoExpert.new("cw.twice", "Seen before",
                            expert.group.SEQUENCE, expert.severity.NOTE),
    gap = ProtoExpert.new("cw.gap", "Segments before it were not seen",
                          expert.group.SEQUENCE, expert.severity.NOTE),
    short = ProtoExpert.new("cw.short", "Shorter than its kind needs",
                            expert.group.MALFORMED, expert.severity.ERROR),
    range = ProtoExpert.new("cw.bad_range", "A range that is none",
                            expert.group.MALFORMED, expert.severity.ERROR),
}
cw.experts = { e.again, e.twice, e.gap, e.short, e.range }

cw.prefs.encrypted = Pref.enum("Bodies are encrypted", 0,
    "Needed where the handshake was not captured",
    { { 1, "as the handshake says", 0 }, { 2, "never", 1 },
      { 3, "always", 2 } }, true)

-- ---------------------------------------------- what is remembered of others

-- encrypted: receiver's address and id -> true
-- highest:   the same -> highest number seen; seen: the numbers
-- notes:     what was found out of a frame when it was seen first; several of
--            one frame by the offset of the packet in it
local encrypted, highest, seen, notes

function cw.init()
    encrypted, highest, seen, notes = {}, {}, {}, {}
end

local function connection(address, id)
    return tostring(address) .. "/" .. id
end

local function is_encrypted(pinfo, to)
    if cw.prefs.encrypted ~= 0 then
        return cw.prefs.encrypted == 2
    end
    return encrypted[connection(pinfo.dst, to)] == true
end

-- Both ends of an accepted connection.
local function remember_accept(pinfo, to, id, cipher)
    if cipher ~= 0 then
        encrypted[connection(pinfo.dst, to)] = true
        encrypted[connection(pinfo.src, id)] = true
    end
end

-- The sequence of a direction, once, in the order of the capture.
local function sequence(pinfo, to, number)
    local who = connection(pinfo.dst, to)
    local note = notes[pinfo.number] or {}

    if not pinfo.visited then
        seen[who] = seen[who] or {}
        if seen[who][number] then
            note.twice = true
        elseif highest[who] and number > (highest[who] + 1) % 2^32 then
            note.gap = number - highest[who] - 1
        end
        seen[who][number] = true
        if not highest[who] or number > highest[who]
            or highest[who] - number > 2^31 then
            highest[who] = number
        end
        notes[pinfo.number] = note
    end
    return note
end

-- -------------------------------------------------------------- extensions

local function add_hello(pinfo, tree, x)
    tree:add_le(f.id, x(0, 4))
    tree:add_le(f.buffer, x(4, 4))
    tree:add_le(f.incarnation, x(8, 8))
    tree:add_le(f.nonce, x(16, 8))
    tree:add_le(f.cookie, x(24, 8))
    tree:add_le(f.largest, x(32, 4))
    tree:add_le(f.data_port, x(36, 2))
    tree:add_le(f.ciphers, x(38, 2))
    return string.format(" id=0x%08x", x(0, 4):le_uint())
end

local function add_access(pinfo, tree, x)
    tree:add_le(f.key, x(0, 8))
    tree:add_le(f.address, x(8, 8))
    tree:add_le(f.operation, x(16, 4))
    return " op=" .. x(16, 4):le_uint()
end

local function add_put_or_get(pinfo, tree, x)
    local info = add_access(pinfo, tree, x)

    tree:add_le(f.length, x(20, 4))
    return info .. " len=" .. x(20, 4):le_uint()
end

local extensions = {
    [CHUNK] = function(pinfo, tree, x)
        tree:add_le(f.message, x(0, 4))
        tree:add_le(f.offset, x(4, 4), UInt64(x(4, 4):le_uint()))
        tree:add_le(f.total, x(8, 4))
        return string.format(" message=%u %u/%u", x(0, 4):le_uint(),
                             x(4, 4):le_uint(), x(8, 4):le_uint())
    end,
    [PUT] = add_put_or_get,
    [GET] = add_put_or_get,
    [DATA] = function(pinfo, tree, x)
        tree:add_le(f.operation, x(0, 4))
        tree:add_le(f.offset, x(8, 8))
        return " op=" .. x(0, 4):le_uint()
    end,
    [ATOMIC] = function(pinfo, tree, x)
        local info = add_access(pinfo, tree, x)

        tree:add(f.atomic, x(20, 1))
        tree:add(f.size, x(21, 1))
        tree:add_le(f.operand, x(24, 8))
        tree:add_le(f.compare, x(32, 8))
        return info
    end,
    [RESULT] = function(pinfo, tree, x)
        tree:add_le(f.operation, x(0, 4))
        tree:add_le(f.status, x(4, 4))
        tree:add_le(f.value, x(8, 8))
        return string.format(" op=%u status=%d", x(0, 4):le_uint(),
                             x(4, 4):le_int())
    end,
    [PONG] = function(pinfo, tree, x)
        tree:add_le(f.ping, x(0, 4))
        tree:add_le(f.ping_bytes, x(4, 4))
        return string.format(" to=%u bytes=%u", x(0, 4):le_uint(),
                             x(4, 4):le_uint())
    end,
    [PIECE] = function(pinfo, tree, x)
        tree:add_le(f.piece, x(0, 4))
        tree:add_le(f.offset, x(4, 2), UInt64(x(4, 2):le_uint()))
        tree:add_le(f.total, x(6, 2))
        return string.format(" of=%u %u/%u", x(0, 4):le_uint(),
                             x(4, 2):le_uint(), x(6, 2):le_uint())
    end,
    [RESET] = function(pinfo, tree, x)
        tree:add_le(f["end"], x(0, 4))
        tree:add_le(f.status, x(4, 4))
        return " status=" .. x(4, 4):le_int()
    end,
    [HELLO] = add_hello,
    [COOKIE] = add_hello,
    [CONNECT] = add_hello,
    [ACCEPT] = add_hello,
}

-- Ranges behind the acknowledgement: so many missing, so many arrived.
local function add_ranges(tree, body, ack)
    local at, from, info = 0, ack, ""

    while at + 4 <= body:len() do
        local gap, run = body(at, 2):le_uint(), body(at + 2, 2):le_uint()
        local first = (from + gap) % 2^32
        local past = (first + run) % 2^32
        local text = string.format("%u-%u", first, past)
        local branch = tree:add(f.range, body(at, 4), text)

        branch:add(f["range.first"], body(at, 2), first)
        branch:add(f["range.end"], body(at + 2, 2), past)
        if gap == 0 or run == 0 then
            branch:add_proto_expert_info(e.range)
        end
        info = info .. " +" .. text
        from = past
        at = at + 4
    end
    return info
end

-- ------------------------------------------------------------------ packets

local function add_flags(tree, range)
    local branch = tree:add(f.flags, range)

    for _, name in ipairs({ "any_order", "last", "ack_now", "bundle",
        "refused" }) do
        branch:add(f["flags." .. name], range)
    end
end

local function add_head(tree, t)
    tree:add_le(f.to, t(0, 4))
    tree:add_le(f.number, t(4, 4))
    tree:add_le(f.ack, t(8, 4))
    tree:add_le(f.window, t(12, 2))
    tree:add(f.version, t(14, 1))
    tree:add(f.kind, t(14, 1))
    add_flags(tree, t(15, 1))
    tree:add(f.am_id, t(16, 1))
    tree:add(f.attempt, t(17, 1))
    tree:add(f.newest_attempt, t(18, 1))
    tree:add_le(f.newest, t(20, 2))
    tree:add_le(f.delay_us, t(22, 2))
    tree:add_le(f.tag, t(24, 8))
end

local function add_notes(tree, pinfo, t)
    local note = sequence(pinfo, t(0, 4):le_uint(), t(4, 4):le_uint())

    if t(17, 1):uint() > 0 then
        tree:add_proto_expert_info(e.again)
        return " [again]"
    elseif note.twice then
        tree:add_proto_expert_info(e.twice)
        return " [twice]"
    elseif note.gap then
        tree:add_proto_expert_info(e.gap, "Not seen before it: " .. note.gap)
        return " [gap]"
    end
    return ""
end

local function add_sealed(tree, body)
    local inside = body:len() - TRAILER

    if inside < 0 then
        tree:add_proto_expert_info(e.short)
        return " [short]"
    end
    if inside > 0 then
        tree:add(f.encrypted, body(0, inside))
    end
    tree:add_le(f.counter, body(inside, 8))
    tree:add(f.aead_tag, body(inside + 8, 16))
    return " [encrypted]"
end

-- Messages of a bundle: length, id, zeros, bytes, zeros up to a multiple of 8.
local function add_bundle(tree, body)
    local at, count = 0, 0

    while at + 8 <= body:len() do
        local length = body(at, 2):le_uint()
        local taken = 8 + 8 * math.floor((length + 7) / 8)

        if at + taken > body:len() then
            break
        end
        tree:add(f.am_id, body(at + 2, 1))
        if length > 0 then
            tree:add(f.payload, body(at + 8, length))
        end
        at = at + taken
        count = count + 1
    end
    if at < body:len() then
        tree:add_proto_expert_info(e.short)
    end
    return " " .. count .. " messages"
end

local function add_body(tree, pinfo, kind, t)
    local needs = extension_bytes[kind]
    local info, rest = "", t:len() - HEAD - needs

    if kind == ACK then
        return (rest > 0) and add_ranges(tree, t(HEAD), t(8, 4):le_uint())
            or ""
    end
    if rest < 0 then
        tree:add_proto_expert_info(e.short)
        return " [short]"
    end
    if kind == AM and math.floor(t(15, 1):uint() / 8) % 2 == 1 then
        return add_bundle(tree, t(HEAD))
    end
    if needs > 0 then
        info = extensions[kind](pinfo, tree, t(HEAD, needs))
    end
    tree:add(f.payload_bytes, t(t:len(), 0), rest):set_generated()
    if rest > 0 then
        tree:add(f.payload, t(HEAD + needs, rest))
        info = info .. " Len=" .. rest
    end
    return info
end

-- A tvb range has no function to be called as one from its own offset 0.
local function from(tvb)
    local t = { len = function() return tvb:len() end }

    return setmetatable(t, {
        __call = function(_, at, count)
            return tvb:range(at, count or (tvb:len() - at))
        end,
    })
end

function cw.dissector(tvb, pinfo, root)
    local t = from(tvb)
    local kind, tree, info

    if tvb:len() < HEAD then
        return 0
    end
    kind = t(14, 1):uint() % 32
    if kinds[kind] == nil or math.floor(t(14, 1):uint() / 32) ~= VERSION then
        return 0
    end
    pinfo.cols.protocol = "Causeway"
    tree = root:add(cw, tvb(), "Causeway udp, " .. kinds[kind])
    add_head(tree, t)
    info = string.format("%s to=0x%08x", kinds[kind], t(0, 4):le_uint())
    if kind < ACK then
        info = info .. " Seq=" .. t(4, 4):le_uint() .. add_notes(tree, pinfo, t)
    end
    if kind < HELLO then
        info = info .. string.format(" Ack=%u Win=%u", t(8, 4):le_uint(),
                                     t(12, 2):le_uint())
    end
    if kind < HELLO and is_encrypted(pinfo, t(0, 4):le_uint()) then
        info = info .. add_sealed(tree, t(HEAD))
    else
        info = info .. add_body(tree, pinfo, kind, t)
    end
    if kind == ACCEPT and tvb:len() >= HEAD + 40 then
        remember_accept(pinfo, t(0, 4):le_uint(), t(HEAD, 4):le_uint(),
                        t(HEAD + 38, 2):le_uint())
    end
    pinfo.cols.info = info
    return tvb:len()
end

-- --------------------------------------------------------- is it one of ours

local function looks_right(tvb)
    local length = tvb:len()
    local kind

    if length < HEAD or length > LONGEST then
        return false
    end
    kind = tvb(14, 1):uint()
    if math.floor(kind / 32) ~= VERSION or kinds[kind % 32] == nil then
        return false
    end
    kind = kind % 32
    if tvb(15, 1):uint() > 15 or tvb(19, 1):uint() ~= 0
        or length < HEAD + extension_bytes[kind] then
        return false
    end
    if kind >= HELLO then
        return length == HEAD + 40
    end
    if kind == ACK then
        return length % 4 == 0 and length <= HEAD + 128 + TRAILER
    end
    return true
end

cw:register_heuristic("udp", function(tvb, pinfo, root)
    if not looks_right(tvb) then
        return false
    end
    cw.dissector(tvb, pinfo, root)
    return true
end)

DissectorTable.get("udp.port"):add_for_decode_as(cw)
