import { Component, type ReactNode } from 'react'
import { say } from '../lib/say.ts'
import { Button } from './button.tsx'

/** Shows a sentence instead of a page that threw while it was rendered. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {}

  static getDerivedStateFromError (error: Error) {
    return { error }
  }

  override render () {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <div className='note note-bad' role='alert'>
        <p>{say('app.broken')}</p>
        <p className='quiet'>{error.message}</p>
        <Button onClick={() => this.setState({ error: undefined })}>{say('app.retry')}</Button>
      </div>
    )
  }
}
