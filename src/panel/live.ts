import { effect, signal } from '@preact/signals'
import { session } from './session.ts'

/** Rises when something has changed that a page may show. */
export const changes = signal(0)
/** Whether what others change arrives by itself. */
export const isLive = signal(true)

let stream: EventSource | undefined

/** One stream of events while somebody is signed in. What was missed meanwhile is read anew when it is there again. */
export function followEvents(): void {
  effect(() => {
    const isSignedIn = Boolean(session.value)
    if (isSignedIn === Boolean(stream)) return
    stream?.close()
    stream = isSignedIn ? open() : undefined
  })
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && session.peek()) changes.value++
  })
}

function open(): EventSource {
  const events = new EventSource('/v1/events')
  let wasLost = false
  events.onopen = () => {
    isLive.value = true
    if (wasLost) changes.value++
    wasLost = false
  }
  events.onerror = () => {
    isLive.value = false
    wasLost = true
  }
  // each kind of event has a name of its own, which this client need not know
  const told = () => changes.value++
  events.onmessage = told
  for (const name of siteEvents) events.addEventListener(name, told)
  return events
}

const siteEvents = [
  'site_created',
  'site_deleted',
  'site_converted',
  'site_enabled',
  'site_disabled',
  'site_restored',
  'ondemand_backup_created',
  'ondemand_backup_deleted',
  'php_version_changed',
  'domain_added',
  'domain_removed',
  'primary_domain_set',
  'enabled_edge_cache',
  'disabled_edge_cache',
  'purged_edge_cache',
  'collaborator_added',
  'collaborator_deleted',
]
