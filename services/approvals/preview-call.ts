import type { ApprovalPreview } from '../../schemas/approvals.ts'
import type { ToolHost } from '../tools/index.ts'
import type { ToolItem } from '../contracts/approval-record.ts'

/**
 * Returns what the call of an approval would change, as the files are now, without changing anything. A call that its tool would
 * refuse has the reason in `refused`.
 */
export async function previewCall (
  tools: Pick<ToolHost, 'find'>,
  { toolName, input, cwd }: Pick<ToolItem, 'toolName' | 'input' | 'cwd'>,
  signal: AbortSignal
): Promise<ApprovalPreview> {
  const tool = tools.find(toolName)
  if (tool?.willChange === undefined) return { changes: [] }
  try {
    const places = await tool.willChange(input, { cwd, givenCwd: cwd })
    const diff = await tool.preview?.(input, { cwd, signal })
    return { changes: places.map((place) => ({ ...place, ...diff !== undefined && { diff } })) }
  } catch (error) {
    return { changes: [], refused: error instanceof Error ? error.message : String(error) }
  }
}
