import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { applyAppearance } from './lib/appearance.ts'
import './styles/theme.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'

applyAppearance()
createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>)
