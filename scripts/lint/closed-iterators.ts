import type { Rule } from 'eslint'
import type { Node } from 'estree'

type Nested = Node & { parent?: Nested }

/** Returns the iterator of `iterator.next()`, or undefined for another expression. */
function iteratorOf (node: Node): Node | undefined {
  if (node.type !== 'CallExpression' || node.arguments.length > 0 || node.callee.type !== 'MemberExpression') return undefined
  const { object, property } = node.callee
  return property.type === 'Identifier' && property.name === 'next' ? object as Node : undefined
}

/** True if the result of a call is read as one of an iterator: `{ done, value }` or `.value`. */
function isResultRead ({ parent }: Nested): boolean {
  const names = parent?.type === 'VariableDeclarator' && parent.id.type === 'ObjectPattern'
    ? parent.id.properties.map((each) => each.type === 'Property' ? each.key : each)
    : parent?.type === 'MemberExpression' ? [parent.property] : []
  return names.some((name) => name.type === 'Identifier' && ['done', 'value'].includes(name.name))
}

/** Returns the first name of an expression such as `current.answers`. */
function rootOf (node: Node): string | undefined {
  if (node.type === 'MemberExpression') return rootOf(node.object as Node)
  return node.type === 'Identifier' ? node.name : undefined
}

/**
 * ESLint rule: a file that awaits `next()` of an iterator also calls its `return()`. An iterator of the store that stays open keeps its
 * snapshot, and so the tables that compaction has replaced, for as long as the process lives.
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
