import type { Rule } from 'eslint'

const MESSAGE = 'Write the names of types and events out in full: a name that is put together cannot be found by a search.'

/**
 * ESLint rule: type names are written out. They must not be built from parts, neither in TypeScript types nor as the value of a property
 * `type`.
 */
export const wholeNames: Rule.RuleModule = {
  meta: { type: 'suggestion', schema: [] },
  create: (context) => ({
    TSTemplateLiteralType: (node: Rule.Node) => context.report({ node, message: MESSAGE }),
    "Property[key.name='type'] > TemplateLiteral[expressions.length>0]": (node: Rule.Node) => context.report({ node, message: MESSAGE })
  })
}
