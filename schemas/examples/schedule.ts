export const schedule = { interval: 'weekly', on: 'monday', at: '09:00', timezone: 'Europe/Berlin' }
export const slot = { at: 1795420800000, fate: 'run', runId: '019aa5f0-7c1e-7d3a-9c55-0b7b3f2a41de', settledAt: 1795420800004 }
export const taskSchedule = {
  schedule,
  upcoming: [1796025600000, 1796630400000],
  slots: [slot, {
    at: 1794816000000,
    fate: 'coalesced',
    into: 1795420800000,
    runId: '019aa5f0-7c1e-7d3a-9c55-0b7b3f2a41de',
    settledAt: 1795420800004
  }]
}
