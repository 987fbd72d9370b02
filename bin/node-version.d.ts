export const OLDEST: string
export function refuseOldNode (): boolean
