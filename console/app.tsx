import { QueryClientProvider } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Link, Route, Router, Switch } from 'wouter'
import { LiveUpdates } from './lib/live/live-updates.tsx'
import { Learned } from './lib/live/learned.tsx'
import { Notices } from './lib/live/notices.tsx'
import { queries } from './lib/queries.ts'
import { say } from './lib/say.ts'
import { Announcer } from './parts/announcer.tsx'
import { Empty } from './parts/empty.tsx'
import { ErrorBoundary } from './parts/error-boundary.tsx'
import { Frame } from './parts/frame.tsx'
import { Loading } from './parts/loading.tsx'
import { Page } from './parts/page.tsx'
import { TokenGate } from './parts/token-gate.tsx'

const Inbox = lazy(() => import('./pages/inbox/inbox.tsx'))
const Tasks = lazy(() => import('./pages/tasks/tasks.tsx'))
const NewTask = lazy(() => import('./pages/tasks/new-task.tsx'))
const Overnight = lazy(() => import('./pages/tasks/overnight.tsx'))
const Task = lazy(() => import('./pages/tasks/task.tsx'))
const Run = lazy(() => import('./pages/run/run.tsx'))
const Chat = lazy(() => import('./pages/chat/chat.tsx'))
const Memory = lazy(() => import('./pages/memory/memory.tsx'))
const Settings = lazy(() => import('./pages/settings/settings.tsx'))

/** The console: the frame with the navigation, and one page for each path below /console. */
export function App () {
  return (
    <QueryClientProvider client={queries}>
      <Router base='/console'>
        <Announcer>
          <TokenGate>
            <LiveUpdates>
              <Notices />
              <Frame>
                <ErrorBoundary>
                  <Suspense fallback={<Loading />}>
                    <Switch>
                      <Route path='/'><Inbox /></Route>
                      <Route path='/tasks'><Tasks /></Route>
                      <Route path='/tasks/new'><NewTask /></Route>
                      <Route path='/tasks/overnight'><Overnight /></Route>
                      <Route path='/tasks/:id'>{({ id }) => <Task key={id} id={id} />}</Route>
                      <Route path='/runs/:id'>{({ id }) => <Run key={id} id={id} />}</Route>
                      <Route path='/chat/:id?'>{({ id }) => <Chat id={id} />}</Route>
                      <Route path='/memory'><Memory /></Route>
                      <Route path='/settings/:section?'>{({ section }) => <Settings section={section} />}</Route>
                      <Route>
                        <Page title={say('app.notFound')}>
                          <Empty text={say('app.notFoundText')}><Link href='/' className='button'>{say('app.toInbox')}</Link></Empty>
                        </Page>
                      </Route>
                    </Switch>
                  </Suspense>
                </ErrorBoundary>
              </Frame>
              <Learned />
            </LiveUpdates>
          </TokenGate>
        </Announcer>
      </Router>
    </QueryClientProvider>
  )
}
