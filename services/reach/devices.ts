import type { DeviceView, Pairing, RemovedDevice } from '../../schemas/devices.ts'
import type { DecidingDevice } from '../../schemas/deciding-device.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { emptyIfDamaged, type StoredRecord } from '../store/index.ts'
import { digestOf } from './device-digest.ts'
import { DeviceNotFound, NotPaired, PairingRefused, TooManyDevices, TooManyPairings } from './reach-errors.ts'

/** A paired device. Its key, and the secret with which it was paired, are stored as digests. Times: milliseconds since the Unix epoch. */
interface Device extends DecidingDevice {
  keyDigest: string
  secretDigest: string
  createdAt: number
  lastUsedAt: number
}
export interface StoredDevices {
  devices?: Device[]
}

/** A key lapses if it was not used for this many milliseconds. */
const LAPSES_MS = 30 * 24 * 60 * 60 * 1000
/** The precision of the time of the last use, in milliseconds, so that not every request of a device causes a write. */
const USED_MS = 60 * 60 * 1000
const MOST_DEVICES = 20
/** The most attempts to pair within TRIES_MS, for all devices together, because devices behind one proxy share one address. */
const MOST_TRIES = 10
const TRIES_MS = 60_000

const viewOf = ({ deviceId, name, createdAt, lastUsedAt }: Device): DeviceView =>
  ({ deviceId, name, createdAt, lastUsedAt, lapsesAt: lastUsedAt + LAPSES_MS })

/** Whether the key of a device has not lapsed. */
const hasKey = ({ lastUsedAt }: Device, now: number): boolean => lastUsedAt + LAPSES_MS > now

/** Creates the function that counts an attempt to pair. It throws TooManyPairings (429) after MOST_TRIES attempts within TRIES_MS. */
function createTryCount (clock: Clock): () => void {
  let tries: number[] = []
  return () => {
    const now = clock.monotonic()
    tries = tries.filter((at) => at > now - TRIES_MS)
    if (tries.length >= MOST_TRIES) throw new TooManyPairings()
    tries.push(now)
  }
}

export type Devices = ReturnType<typeof createDevices>

/**
 * Creates the service for paired devices. `takePairing` uses up the secret of a pairing code, and resolves to
 * false for a wrong or used secret.
 */
export function createDevices ({ record, takePairing, clock, log }: {
  record: StoredRecord<StoredDevices>
  takePairing: (secret: string, now: number) => Promise<boolean>
  clock: Clock
  log: Record<'info' | 'warn', (details: object, message: string) => void>
}) {
  const locked = createKeyedLock()
  const countTry = createTryCount(clock)

  /** Returns all stored devices. A damaged record counts as empty, so that the devices have to pair again. */
  const stored = async (): Promise<Device[]> => (await record.get().catch(emptyIfDamaged) as StoredDevices).devices ?? []
  const current = async () => (await stored()).filter((device) => hasKey(device, clock.now()))

  /** Changes the list of devices, one change at a time. Each change also removes devices whose key has lapsed. */
  const change = (next: (devices: Device[]) => Device[]) =>
    locked('devices', async () => record.replace({ devices: next(await current()) }))

  async function markUsed ({ deviceId, lastUsedAt }: Device): Promise<void> {
    const now = clock.now()
    if (Math.abs(now - lastUsedAt) < USED_MS) return
    // A store that refuses writes must not lock the device out.
    await change((devices) => devices.map((each) => each.deviceId === deviceId ? { ...each, lastUsedAt: now } : each)).catch((error) =>
      log.warn({ err: error }, 'the last use of a device could not be stored'))
  }

  return {
    /** Lists the devices, the oldest first. */
    list: async (): Promise<DeviceView[]> => (await current()).map(viewOf),

    /**
     * Pairs a device by the secret of a pairing code, which is then used up. A device that did not receive the answer can send the same
     * request again. Resolves when the device is durable. Throws PairingRefused (403), TooManyDevices (409), TooManyPairings (429).
     */
    async pair ({ secret, key, name }: Pairing): Promise<DecidingDevice> {
      countTry()
      const [secretDigest, keyDigest] = [secret, key].map(digestOf)
      return locked('pair', async () => {
        const devices = await current()
        const known = devices.find((each) => each.keyDigest === keyDigest || each.secretDigest === secretDigest)
        if (known?.keyDigest === keyDigest && known.secretDigest === secretDigest) return { deviceId: known.deviceId, name: known.name }
        if (known !== undefined || !await takePairing(secret, clock.now())) {
          log.warn({}, 'a device tried to pair with a wrong secret')
          throw new PairingRefused()
        }
        if (devices.length >= MOST_DEVICES) throw new TooManyDevices(MOST_DEVICES)
        const now = clock.now()
        const device = { deviceId: newId(), name, keyDigest, secretDigest, createdAt: now, lastUsedAt: now }
        await change((others) => [...others, device])
        log.info({ deviceId: device.deviceId }, 'a device was paired')
        return { deviceId: device.deviceId, name }
      })
    },

    /** Returns the device to which a key belongs. Throws NotPaired (401). */
    async require (key: string | undefined): Promise<DecidingDevice> {
      const keyDigest = key === undefined ? undefined : digestOf(key)
      const device = (await stored()).find((each) => each.keyDigest === keyDigest)
      if (device === undefined) throw new NotPaired()
      if (!hasKey(device, clock.now())) {
        // Stores the removal, so that a clock that is set back does not make the key valid again.
        await change((devices) => devices)
        throw new NotPaired()
      }
      await markUsed(device)
      return { deviceId: device.deviceId, name: device.name }
    },

    /** Throws NotPaired (401) if the device was removed meanwhile. */
    async assertPaired ({ deviceId }: DecidingDevice): Promise<void> {
      if (!(await current()).some((each) => each.deviceId === deviceId)) throw new NotPaired()
    },

    /** Removes a device, whose key then no longer works. Resolves when the removal is durable. Throws DeviceNotFound (404). */
    async remove (deviceId: string): Promise<RemovedDevice> {
      if (!(await current()).some((each) => each.deviceId === deviceId)) throw new DeviceNotFound(deviceId)
      await change((devices) => devices.filter((each) => each.deviceId !== deviceId))
      return { ok: true, deviceId }
    }
  }
}
