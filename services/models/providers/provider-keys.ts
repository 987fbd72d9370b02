import { emptyIfDamaged, type StoredRecord } from '../../store/index.ts'

/** The record of keys that the user configured; encrypted, and the only place they are kept. */
export interface ProviderSecrets {
  gateway_key?: string
  /** By name of the provider. */
  keys?: Record<string, string>
}

interface Parts {
  record: StoredRecord<ProviderSecrets>
  /** Keys from the parent process, by name of the provider. They are not stored. */
  handedOver?: Record<string, string>
}

interface KeyChange {
  /** `null` removes the stored key. */
  gateway_key?: string | null
  /** By name of the provider; `null` removes the stored key. */
  keys?: Record<string, string | null>
}

/** Creates the access to the keys of providers. A stored key takes precedence over one from the parent process. */
export async function createProviderKeys ({ record, handedOver = {} }: Parts) {
  // A damaged record must not prevent the start: the user can configure the keys again.
  let stored: ProviderSecrets = await record.get().catch(emptyIfDamaged)
  const seen = new Set<string>(Object.values(handedOver))
  const own = (keys: Record<string, string> | undefined, name: string) => keys && Object.hasOwn(keys, name) ? keys[name] : undefined

  return {
    gateway: (): string | undefined => stored.gateway_key,
    of: (name: string): string | undefined => own(stored.keys, name) ?? own(handedOver, name),
    isStored: (name: string): boolean => own(stored.keys, name) !== undefined,

    /** Returns every key since the service started; these keys are redacted from all messages. */
    all (): string[] {
      for (const key of [stored.gateway_key, ...Object.values(stored.keys ?? {})]) if (key !== undefined) seen.add(key)
      return [...seen]
    },

    /** Stores or removes keys. Resolves when the change is durable. */
    async change (change: KeyChange): Promise<void> {
      const apply = (secrets: ProviderSecrets): ProviderSecrets => {
        const keys = Object.entries({ ...secrets.keys, ...change.keys }).filter((entry): entry is [string, string] => entry[1] !== null)
        const { gateway_key: before, ...rest } = secrets
        const gatewayKey = change.gateway_key === undefined ? before : change.gateway_key ?? undefined
        return { ...rest, ...gatewayKey !== undefined && { gateway_key: gatewayKey }, keys: Object.fromEntries(keys) }
      }
      this.all()
      stored = await record.update(apply).catch((error) => record.replace(apply(emptyIfDamaged(error))))
    }
  }
}
