/** Shows every component in its states, for maintainers: `npm run panel:components`. It is not in the package. */
import '../styles/index.css'
import './components.css'
import { render } from 'preact'
import { AskFirst } from '../parts/ask-first.tsx'
import { SecretDialog } from '../parts/secret.tsx'
import { listenForTips } from '../parts/tips.ts'
import { Toasts } from '../parts/toasts.tsx'
import { Content } from './content.tsx'
import { Controls } from './controls.tsx'
import { Lists } from './lists.tsx'

listenForTips()
render(
  <main>
    <h1>Components</h1>
    <Controls />
    <Content />
    <Lists />
    <AskFirst />
    <SecretDialog />
    <Toasts />
  </main>,
  document.getElementById('app') as HTMLElement,
)
