import { relative, resolve, sep } from 'node:path'
import type { Rule } from 'eslint'

/** Folders of services/ whose files can all be imported by every service. */
const SHARED = ['contracts', 'lib']

const fromRoot = (cwd: string, path: string) => relative(cwd, path).split(sep).join('/')

/** Returns why a service is not allowed to import a file; undefined if it is. Paths are relative to the root, with slashes. */
export function whyForbidden (from: string, imported: string): string | undefined {
  const [, importer] = /^services\/([^/]+)\//.exec(from) ?? []
  const [, domain, name] = /^services\/([^/]+)\/(.+)\.ts$/.exec(imported) ?? []
  if (importer === undefined || domain === undefined) return undefined
  if (domain === importer) return name === 'index' ? 'index.ts is for the other services.' : undefined
  if (importer === 'contracts') return 'services/contracts imports nothing but schemas and packages.'
  if (importer === 'lib') return 'services/lib imports no other service.'
  if (SHARED.includes(domain) || name === 'index') return undefined
  return `${imported} is internal to ${domain}: services/${domain}/index.ts exports what other services may use.`
}

/** ESLint rule: a service imports another service only through its index.ts. This includes type imports and dynamic imports. */
export const serviceImports: Rule.RuleModule = {
  meta: { type: 'problem', schema: [] },
  create (context) {
    const from = fromRoot(context.cwd, context.filename)
    const check = (node: Rule.Node & { source?: { value?: unknown } | null }) => {
      const specifier = node.source?.value
      if (typeof specifier !== 'string' || !specifier.startsWith('.')) return
      const message = whyForbidden(from, fromRoot(context.cwd, resolve(context.filename, '..', specifier)))
      if (message !== undefined) context.report({ node, message })
    }
    return {
      ImportDeclaration: check,
      ImportExpression: check as (node: unknown) => void,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check
    }
  }
}
