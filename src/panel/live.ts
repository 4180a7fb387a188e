import { effect, signal } from '@preact/signals'
import { api, ask } from './api.ts'
import { type Following, follow, type Told } from './follow.ts'
import { session } from './session.ts'

/** Rises when something has changed that a page may show. */
export const changes = signal(0)
/** Whether what others change arrives by itself. */
export const isLive = signal(true)

/** Much happens at once: it is read once. */
const PAUSE_MS = 200
const TRY_AGAIN_MS = 5000

let following: Following | undefined
let isDue = false

/** Hears of changes while somebody is signed in, and reads anew what a tab has missed when it is looked at again. */
export function followEvents(): void {
  effect(() => {
    const isSignedIn = Boolean(session.value)
    if (isSignedIn === Boolean(following)) return
    following?.end()
    following = isSignedIn ? connect() : undefined
    // what could not be read without a session
    if (isSignedIn) readSoon()
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
  if (told === 'changed') readSoon()
  else isLive.value = told === 'live'
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

/** The session has ended, which `ask` notices, or Stead has no room at this moment. */
async function lookWhy(): Promise<void> {
  await ask(() => api.GET('/v1/session')).catch(() => undefined)
  setTimeout(() => following?.again(), TRY_AGAIN_MS)
}

/** With the other tabs, where the browser can. */
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
