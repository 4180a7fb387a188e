import './styles/index.css'
import { render } from 'preact'
import { api, ask } from './api.ts'
import { App } from './app.tsx'
import { followEvents } from './live.ts'
import { listenForPalette } from './parts/palette.tsx'
import { listenForTips } from './parts/tips.ts'
import { session } from './session.ts'

ask(() => api.GET('/v1/session'))
  .then(({ data }) => {
    session.value = data
  })
  .catch(() => {
    session.value = null
  })
followEvents()
listenForPalette()
listenForTips()
render(<App />, document.getElementById('app') as HTMLElement)
