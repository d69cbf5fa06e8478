local out = {}
local function p(...) print(...) end
local function fib(n) if n < 2 then return n end return fib(n-1)+fib(n-2) end
local Account = {} ; Account.__index = Account
function Account.new(b) return setmetatable({balance=b}, Account) end
function Account:add(x) if x < 0 then error({code=x}) end self.balance = self.balance + x return self end
Account.__add = function(a, b) return Account.new(a.balance + b.balance) end
Account.__close = function(a) p("closed", a.balance) end
local keys = {}          -- tables, functions and threads as keys
local gen = coroutine.wrap(function() local n = 0 while true do n = n + 1 coroutine.yield(n, n * n) end end)
local function counter(n) return function() n = n + 0.5 return n end, function(m) n = m end end
local Lazy = setmetatable({}, {__index = function(t, k) local v = k .. "!" rawset(t, k, v) return v end,
  __call = function(self, a, ...) return select("#", ...), a end, __gc = function() end})
local function deep(n) if n == 0 then error("bottom", 0) end local r = deep(n - 1) return r end
local kept = io.open("kept.txt", "w")
local weak = setmetatable({}, {__mode = "k"})
math.randomseed(42)
local N = 500
for i = 1, N do
  local a = Account.new(i)
  keys[a] = i; keys[fib] = i; weak[a] = {i}
  local ok, e = pcall(a.add, a, i % 3 == 0 and -i or i)
  local n, sq = gen()
  local s = string.rep("x", i):gsub("x", function(c) return (i % 2 == 0) and "ab" or nil end)
  local t = {}
  for k = 1, 200 do t[k] = (k * 7919) % 211 end
  table.sort(t, function(x, y) if i % 2 == 0 then return x < y else return x > y end end)
  local words = {}
  for w in ("the quick brown fox jumps over the lazy dog " .. i):gmatch("%w+") do words[#words+1] = w:upper() end
  do local c <close> = a; if i % 20 == 0 then p(#s) end end
  local co = coroutine.create(function(x) local y = coroutine.yield(x + 1) error("end " .. y) end)
  local _, r1 = coroutine.resume(co, i)
  local _, r2 = coroutine.resume(co, r1)
  local sum = 0
  for obj, v in pairs(keys) do if type(obj) == "table" then sum = sum + (keys[obj] == v and v or 1e9) end end
  p(i, fib(12 + i % 9), ok, ok or e.code, n, sq, #s, t[1], t[100], table.concat(words, ","), r1, tostring(r2):sub(-8), sum,
    string.format("%5.2f|%q|%x|%s", i / 7, "a\n" .. i, i * 255, i % 2 == 0), math.random(1000), string.pack("<i4", i):byte(1), (a + a).balance, i // 7, i % 7, 2^i, i << 3 & 0xff)
  if i % 10 == 0 then collectgarbage() end
  if i % 15 == 0 then keys = {} end
  local count, set = counter(i)
  for k = 1, i % 5 do count() end
  if i % 4 == 0 then set("7") end
  local kinds = {}
  for k, v in ipairs({1, 1.5, "a", {}, print, co, Lazy, true}) do kinds[k] = math.type(v) or type(v) end
  local h = load(string.dump(function(x) return x * 2 end))
  kept:write(string.format("%d %s\n", i, count())) kept:flush()
  p(count(), Lazy["k" .. i % 7], Lazy(i, nil, nil), select(2, pcall(deep, 50 + i)), table.concat(kinds, " "), h(i), #table.move(t, 1, 50, 3, {}))
  for k = 1, 3 do if k == i % 3 then goto done end p("not", k) end
  ::done::
  local big = {} for k = 1, 500 do big["k" .. k] = {k, tostring(k)} end
  for k, v in pairs(big) do if v[1] % 2 == 0 then big[k] = nil end end
  local c = 0 for _ in pairs(big) do c = c + 1 end
  local f = load("local a, b = ... ; return a * " .. i .. " + (b or 0), {a = 'x', [1] = " .. i .. "}")
  local v, tab = f(3, i)
  p(c, v, tab.a, tab[1], select("#", table.unpack(t, 1, 20)), utf8.char(228, 8364, i + 64), #utf8.char(8364))
end
kept:close()
for line in io.lines("kept.txt") do io.write(line, ";") end
print()
