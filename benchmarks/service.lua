-- Requests of the benchmark `service` for wrk: texts of 22 words, the label decided by two of them.
-- Arguments: the token, and milliseconds to wait before each request of a connection.
local words, wait, teaches = {}, 0, false

function init(args)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  wait = tonumber(args[2])
  teaches = wrk.path:find("/learn") ~= nil
  for i = 1, 3000 do words[i] = "word" .. i end
  math.randomseed(7)
end

function delay()
  return math.floor(wait * (0.5 + math.random()) + 0.5)
end

function request()
  local label, text = math.random(30), {}
  for i = 1, 20 do text[i] = words[math.random(3000)] end
  text[21], text[22] = words[label], words[label + 30]
  local body = '{"x":"' .. table.concat(text, " ") .. '"'
  if teaches then body = body .. ',"y":"folder ' .. label .. '"' end
  return wrk.format(nil, nil, nil, body .. "}")
end
