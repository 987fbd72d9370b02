import {
  Activity, BookOpen, Bot, Brain, ChartColumn, Inbox, Keyboard, KeyRound, ListTodo, MessageSquare, Monitor, Moon, Palette, Plus, Search,
  ServerCog, Settings, ShieldCheck, SquarePen, Sun, type LucideIcon
} from 'lucide-react'
import type { SearchResult } from '../../../client/generated/index.ts'
import { setAppearance } from '../../lib/appearance.ts'
import { withoutMarks } from '../../lib/plain-markdown.ts'
import { say } from '../../lib/say.ts'
import { foundPath } from '../../pages/chat/thread/found-message.ts'

/** An entry of the palette: a place to go to, or an action. */
export interface Entry {
  key: string
  icon: LucideIcon
  text: string
  /** Further words that find the entry. */
  also?: string
  /** The label of the entry's kind. */
  kind: string
  go: () => void
}

/** Returns the entries that are offered on every page, and the functions that make entries from conversations, tasks and found messages. */
export function places (navigate: (to: string) => void, onKeys: () => void) {
  const to = (path: string) => () => navigate(path)
  const page = (icon: LucideIcon, text: string, path: string): Entry =>
    ({ key: path, icon, text, kind: say('palette.page'), go: to(path) })
  const settings = (icon: LucideIcon, text: string, name: string, also = ''): Entry =>
    ({ key: name, icon, text, also: `${say('settings.title')} ${also}`, kind: say('settings.title'), go: to(`/settings/${name}`) })
  const action = (icon: LucideIcon, text: string, go: () => void, also?: string): Entry =>
    ({ key: text, icon, text, also, kind: say('palette.action'), go })
  return {
    entries: [
      action(SquarePen, say('chat.new'), to('/chat')),
      action(Plus, say('tasks.new'), to('/tasks/new')),
      action(Moon, say('overnight.title'), to('/tasks/overnight')),
      page(Inbox, say('inbox.title'), '/'),
      page(ListTodo, say('tasks.title'), '/tasks'),
      page(MessageSquare, say('chat.title'), '/chat'),
      page(Brain, say('memory.title'), '/memory'),
      page(Settings, say('settings.title'), '/settings'),
      settings(KeyRound, say('settings.models'), 'models'),
      settings(ServerCog, say('settings.servers'), 'servers'),
      settings(Bot, say('settings.agents'), 'agents'),
      settings(BookOpen, say('settings.skills'), 'skills'),
      settings(ShieldCheck, say('settings.grants'), 'grants'),
      settings(ChartColumn, say('settings.usage'), 'usage'),
      settings(Activity, say('settings.health'), 'health'),
      settings(
        Palette, say('settings.general'), 'general',
        `${say('appearance.title')} ${say('settings.budget')} ${say('devices.title')} ${say('settings.roots')} ${say('data.backupText')}`
      ),
      action(Sun, say('palette.light'), () => setAppearance('theme', 'light'), say('appearance.theme')),
      action(Moon, say('palette.dark'), () => setAppearance('theme', 'dark'), say('appearance.theme')),
      action(Monitor, say('palette.system'), () => setAppearance('theme', 'system'), say('appearance.theme')),
      action(Keyboard, say('keys.title'), onKeys)
    ],
    conversation: (id: string, title: string): Entry =>
      ({ key: id, icon: MessageSquare, text: title, kind: say('settings.conversation'), go: to(`/chat/${encodeURIComponent(id)}`) }),
    task: (id: string, name: string, goal: string): Entry =>
      ({ key: id, icon: ListTodo, text: name, also: goal, kind: say('tasks.task'), go: to(`/tasks/${encodeURIComponent(id)}`) }),
    said: (result: SearchResult): Entry => ({
      key: `${result.threadId} ${result.messageId}`,
      icon: Search,
      text: withoutMarks(result.snippet.text),
      kind: say('palette.said'),
      go: to(foundPath(result))
    })
  }
}
