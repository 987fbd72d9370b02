import { Check } from '@sinclair/typebox/value'
import { ConfigKeys, type McpEntry } from '../../schemas/config.ts'
import type { ConfigService } from '../config/index.ts'
import { withEntry } from './config-entries.ts'
import type { EnvironmentValues } from './environment-values.ts'
import { ToolServersInvalid } from './mcp-errors.ts'

interface Parts {
  config: Pick<ConfigService, 'update'>
  environments: EnvironmentValues
}

/** Saves tool servers: their entries in config.json, the values to which these refer in the encrypted store. */
export function createSavedServers ({ config, environments }: Parts) {
  /** Changes `mcp` in config.json. Throws ToolServersInvalid when its present value is not valid, as a change would lose it. */
  async function updateConfig (change: (entries: McpEntry[]) => McpEntry[]) {
    await config.update((current) => {
      const before = current.mcp ?? []
      if (!Check(ConfigKeys.mcp, before)) throw new ToolServersInvalid('"mcp" is not valid')
      return { ...current, mcp: change(before) }
    })
  }

  return {
    update: updateConfig,

    /** Saves an entry in the place of the one of its name. Restores the stored values when the configuration cannot be saved. */
    async save (entry: McpEntry, given: Record<string, string>): Promise<void> {
      const before = environments.of(entry.name)
      try {
        await environments.replace(entry.name, given)
        await updateConfig((entries) => withEntry(entries, entry))
      } catch (error) {
        await environments.replace(entry.name, before)
        throw error
      }
    },

    /** Deletes the entry of a name and its values. */
    async remove (name: string): Promise<void> {
      await updateConfig((entries) => entries.filter((entry) => entry.name !== name))
      await environments.replace(name, {})
    }
  }
}
