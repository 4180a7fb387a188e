import { effect, signal } from '@preact/signals'
import { api, ask } from './api.ts'
import { type Following, follow, type Told } from './follow.ts'
import { session } from './session.ts'

/** Increases when something changed that a page may show. */
export const changes = signal(0)
/** Whether changes by others arrive automatically. */
export const isLive = signal(true)

/** Collects changes for this long, then reads once. */
const PAUSE_MS = 200
const TRY_AGAIN_MS = 5000

let following: Following | undefined
let isDue = false

/** Listens for changes while someone is signed in, and reloads what a hidden tab missed when it becomes visible. */
export function followEvents(): void {
  effect(() => {
    const isSignedIn = Boolean(session.value)
    if (isSignedIn === Boolean(following)) return
    following?.end()
    following = isSignedIn ? connect() : undefined
  })
  addEventListener('online', () => following?.again())
  addEventListener('pagehide', () => following?.end())
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && following) following = connect()
  })
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && session.peek()) changes.value++
  })
}

function hear(told: Told): void {
  if (told !== 'changed') isLive.value = told === 'live'
  // A page that was read before the connection opened may lack a change.
  if (told === 'changed' || told === 'live') readSoon()
  if (told === 'refused') void lookWhy()
}

function readSoon(): void {
  if (isDue || document.hidden) return
  isDue = true
  setTimeout(() => {
    isDue = false
    changes.value++
  }, PAUSE_MS)
}

/** The session has ended, which `ask` handles, or Stead has reached its limit of streams. */
async function lookWhy(): Promise<void> {
  await ask(() => api.GET('/v1/session')).catch(() => undefined)
  setTimeout(() => following?.again(), TRY_AGAIN_MS)
}

/** Shares the connection with other tabs, if the browser can. */
function connect(): Following {
  if (!('SharedWorker' in globalThis)) return follow(hear)
  const worker = new SharedWorker(new URL('./follow-worker.ts', import.meta.url), { type: 'module', name: 'stead' })
  worker.port.onmessage = ({ data }: MessageEvent<Told>) => hear(data)
  return {
    again: () => worker.port.postMessage('again'),
    end() {
      worker.port.postMessage('leave')
      worker.port.close()
    },
  }
}
