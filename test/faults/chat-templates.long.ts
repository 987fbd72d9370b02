import t from 'tap'
import { NOT_IN_NODE, TEMPLATES } from '../fakes/template-server.ts'
import { chatTemplateSuite } from '../suites/chat-templates.ts'

const names = TEMPLATES.filter((name) => !NOT_IN_NODE.includes(name))

t.equal(names.length, 63)
for (const isMute of [false, true]) chatTemplateSuite(t, names, isMute)
