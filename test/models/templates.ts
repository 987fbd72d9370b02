export const TEMPLATES_OF_SERVER = []
export async function renderTemplates (_: string[]) {}
export async function callInDialects (_: string[]) {}
