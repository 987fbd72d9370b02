import { Bell } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ServiceEvent } from '../../../client/events.ts'
import { listNotifications, showNotification, type NotificationEvent } from '../../../client/generated/index.ts'
import { Button } from '../../parts/button.tsx'
import { say } from '../say.ts'
import { asked, body } from '../service.ts'
import { useConnection, useServiceEvents } from './live-updates.tsx'

type Told = Pick<NotificationEvent, 'notificationId' | 'title' | 'text'>

/** The browser notifications that this page shows, by notification id of the service. */
const shown = new Map<string, Notification>()

/**
 * Returns true if this page can create notifications. It creates one as a test, which the browser does not show before the user has given
 * permission. Browsers on Android throw, because there only service workers create notifications, and this console has none.
 */
function canMake (): boolean {
  try {
    return Boolean(new Notification(''))
  } catch {
    return false
  }
}

const canAsk = () => 'Notification' in window && Notification.permission === 'default' && canMake()
const mayShow = () => 'Notification' in window && Notification.permission === 'granted'

/** Shows a notification if the browser allows it and no other page or shell has claimed it. */
async function show ({ notificationId, title, text }: Told): Promise<void> {
  if (!mayShow()) return
  const { first } = await showNotification({ ...asked(), path: { id: notificationId }, body: { shown: true } }).then(body)
  if (!first) return
  const notification = new Notification(title, { tag: notificationId, ...(text !== undefined && { body: text }) })
  notification.onclick = () => window.focus()
  shown.set(notificationId, notification)
}

/** Puts the number of open items before the title of the page, also when the title changes. */
function useCountInTitle (count: number) {
  useEffect(() => {
    const write = () => {
      const wanted = `${count > 0 ? `(${count}) ` : ''}${document.title.replace(/^\(\d+\) /, '')}`
      if (document.title !== wanted) document.title = wanted
    }
    write()
    const titles = new MutationObserver(write)
    titles.observe(document.head, { subtree: true, childList: true, characterData: true })
    return () => titles.disconnect()
  }, [count])
}

/** Shows the service's notifications if the browser allows them, and the number of open items in the title. */
export function Notices () {
  const [count, setCount] = useState(0)
  const connection = useConnection()
  useCountInTitle(count)

  // Reads the notifications from before this page was listening.
  useEffect(() => {
    if (connection !== 'open') return
    void listNotifications(asked()).then(body).then(({ notifications, count }) => {
      setCount(count)
      for (const notification of notifications) if (notification.needsShowing) void show(notification).catch(() => {})
    }).catch(() => {})
  }, [connection])

  useServiceEvents((event: ServiceEvent) => {
    if (event.type === 'notification') {
      setCount(event.count)
      void show(event).catch(() => {})
    } else if (event.type === 'notification:closed') {
      setCount(event.count)
      shown.get(event.notificationId)?.close()
      shown.delete(event.notificationId)
    }
  })
  return null
}

/** A button that asks for the browser's permission to show notifications. It is absent once the user has decided. */
export function AllowNotices () {
  const [isAsking, setIsAsking] = useState(canAsk)
  if (!isAsking) return null
  const allow = () => void Notification.requestPermission().then(() => setIsAsking(canAsk()))
  return <Button onClick={allow}><Bell /> {say('inbox.allowNotices')}</Button>
}
