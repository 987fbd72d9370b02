import t from 'tap'
import names from '../../../console/lib/tool-names.json' with { type: 'json' }
import texts from '../../../console/texts/en.json' with { type: 'json' }
import { assistantReply } from '../../../services/models/providers/offline/assistant.ts'
import { sayTool } from '../../../services/tools/say-call.ts'
import { over } from './helper.ts'

t.test('every built-in tool has words for people, for the console and for the offline model', async (t) => {
  const { host } = over(t)
  const { known } = host.names()
  t.ok(known.length > 30)
  for (const name of known) {
    const tool = host.find(name)!
    const words = tool.says?.en
    t.match(words, { label: /^[A-Z]\w/, does: /^[a-z]\w/ }, name)
    // `npm run openapi` writes the names of tools for the console.
    t.equal((texts.tool as Record<string, string>)[name], words?.label, `${name}, in the console`)
    t.equal((names as Record<string, string>)[sayTool(name, tool)], name, `${name}, as the service says it`)
    t.notMatch(sayTool(name, tool), /^use \w+$/, `${name}, in approvals and grants`)
    t.notMatch(host.say({ toolName: name, input: {} }).text, name === 'useTool' ? /useTool/ : /^use /, `${name}, of one call`)
    t.notMatch(offlineSays(name, (each) => host.find(each)?.says?.en), `I cannot use ${name}`, `${name}, by the offline model`)
  }
})

/** Returns what the offline model says when it cannot make a call of the tool. */
function offlineSays (name: string, wordsOf: Parameters<typeof assistantReply>[1]): string {
  const reply = assistantReply({ prompt: [{ role: 'user', content: [{ type: 'text', text: `use ${name} with {}` }] }], tools: [] }, wordsOf)
  return 'text' in reply ? String(reply.text).split(':')[0] : ''
}
