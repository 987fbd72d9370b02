import { relative, resolve, sep } from 'node:path'
import type { Rule } from 'eslint'
import { whyForbidden } from './service-domains.ts'

const fromRoot = (cwd: string, path: string) => relative(cwd, path).split(sep).join('/')

/** ESLint rule: a service imports only the public files of other services, types and dynamic imports included. */
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
