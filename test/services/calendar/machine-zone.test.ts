import { symlinkSync } from 'node:fs'
import t from 'tap'
import { machineTimezone } from '../../../services/calendar/zone.ts'

t.test("the zone of the machine is the one that its link names now, or Node's where that tells nothing", {
  skip: process.platform === 'win32'
}, async (t) => {
  const { TZ } = process.env
  delete process.env.TZ
  t.teardown(() => {
    if (TZ !== undefined) process.env.TZ = TZ
  })
  const dir = t.testdir()
  const started = Intl.DateTimeFormat().resolvedOptions().timeZone
  const rows = {
    '/usr/share/zoneinfo/Pacific/Apia': 'Pacific/Apia',
    '../usr/share/zoneinfo/posix/Europe/Berlin': 'Europe/Berlin',
    '/usr/share/zoneinfo/Mars/Base': started,
    '/usr/share/zoneinfo/localtime': started,
    '/somewhere/else': started
  }
  for (const [at, [target, zone]] of Object.entries(rows).entries()) {
    symlinkSync(target, `${dir}/${at}`)
    t.equal(machineTimezone(`${dir}/${at}`), zone, target)
  }
  t.equal(machineTimezone(`${dir}/none`), started)
  process.env.TZ = 'Asia/Tokyo'
  t.equal(machineTimezone(`${dir}/0`), Intl.DateTimeFormat().resolvedOptions().timeZone, 'what the service was told goes before')
})
