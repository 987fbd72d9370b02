import type { Rule } from 'eslint'
import ts from 'typescript'

/** Reports the errors of the type checker, which the typed rules need anyway: a run of tsc would compile the sources again. */
export const typeErrors: Rule.RuleModule = {
  create: (context) => ({
    Program () {
      const { sourceCode, filename } = context
      const { program } = sourceCode.parserServices as { program: ts.Program }
      const file = program.getSourceFile(filename)
      for (const { start = 0, messageText, code } of [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]) {
        context.report({
          loc: sourceCode.getLocFromIndex(start),
          message: `TS${code}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
        })
      }
    }
  })
}
