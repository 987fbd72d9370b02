import type { WorkFolder } from '../contracts/tool.ts'
import type { ToolItem } from '../contracts/approval-record.ts'

/** Returns the fields of an approval that record the folder shown with it. */
export const boundTo = ({ path, ...folder }: WorkFolder): Pick<ToolItem, 'cwd' | 'folder'> => ({ cwd: path, folder })

/** Returns the folder that was shown with an approval request. */
export const shownFolder = ({ cwd, folder }: ToolItem): WorkFolder => ({ path: cwd, ...folder })
