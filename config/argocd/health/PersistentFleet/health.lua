-- SPDX-License-Identifier: Apache-2.0
-- The healer writes the status. Every phase that is not here is a step on the way.
local phases = { Ready = "Healthy", Blocked = "Degraded", Paused = "Suspended", Stopped = "Suspended" }
local hs = { status = "Progressing", message = "Waiting for the healer to look at this version of the fleet" }
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return hs
end
hs.status = phases[obj.status.phase] or "Progressing"
for _, condition in ipairs(obj.status.conditions or {}) do
  if condition.type == "Ready" then
    hs.message = condition.reason .. ": " .. condition.message
  end
end
return hs
