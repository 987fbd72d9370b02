import type { Rule } from 'eslint'
import type { Node } from 'estree'

type Nested = Node & { parent?: Nested }

/** Returns the iterator of a call `iterator.next()`; undefined for another expression. */
function iteratorOf (node: Node): Node | undefined {
  if (node.type !== 'CallExpression' || node.arguments.length > 0 || node.callee.type !== 'MemberExpression') return undefined
  const { object, property } = node.callee
  return property.type === 'Identifier' && property.name === 'next' ? object as Node : undefined
}

/** Returns true if the result of a call is used as an iterator result: `{ done, value }` or `.value`. */
function isResultRead ({ parent }: Nested): boolean {
  const names = parent?.type === 'VariableDeclarator' && parent.id.type === 'ObjectPattern'
    ? parent.id.properties.map((each) => each.type === 'Property' ? each.key : each)
    : parent?.type === 'MemberExpression' ? [parent.property] : []
  return names.some((name) => name.type === 'Identifier' && ['done', 'value'].includes(name.name))
}

/** Returns the first identifier of an expression such as `current.answers`. */
function rootOf (node: Node): string | undefined {
  if (node.type === 'MemberExpression') return rootOf(node.object as Node)
  return node.type === 'Identifier' ? node.name : undefined
}

/**
 * ESLint rule: a file that awaits `next()` of an iterator must also call the iterator's `return()`. An open iterator of the store keeps its
 * snapshot, and so the tables that compaction has replaced, until the process ends.
 */
export const closedIterators: Rule.RuleModule = {
  meta: { type: 'problem', schema: [] },
  create: (context) => ({
    AwaitExpression (node) {
      const iterator = iteratorOf(node.argument)
      if (iterator === undefined || !isResultRead(node as Nested)) return
      const root = rootOf(iterator)
      if (root !== undefined && new RegExp(`\\b${root}\\b[\\w.?]*\\.return(?:\\?\\.)?\\(`).test(context.sourceCode.text)) return
      context.report({
        node,
        message: 'This iterator is never closed: use firstOf (services/lib/first-of.ts), for await, or call its return() in a finally.'
      })
    }
  })
}
