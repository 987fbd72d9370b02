import { forwardRef, type ButtonHTMLAttributes } from 'react'

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** primary: the one main action of a view; danger: cannot be undone. */
  kind?: 'primary' | 'normal' | 'quiet' | 'danger'
  /** True while the action runs: the button keeps its width and focus, and clicks have no effect. */
  isBusy?: boolean
}

/** A button. It keeps its focus while its action is under way. */
export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button ({ kind = 'normal', isBusy, onClick, ...rest }, ref) {
  return (
    <button
      ref={ref}
      type='button'
      className={`button button-${kind}`}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
      {...rest}
    />
  )
})
