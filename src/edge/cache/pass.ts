import { declareMemory } from '../../platform/process-memory.ts'
import type { ResponseObserver, Visit } from '../visit.ts'

const observers = new Map<string, ResponseObserver>()
declareMemory(() => observers.clear())

/** Passes a visit to the host, and records the reason. */
export function pass(visit: Visit, reason: string): undefined {
  let observer = observers.get(reason)
  if (!observer) {
    observer = { head: (_status, headers) => void headers.push('Cache-Status', `Stead; fwd=${reason}`) }
    observers.set(reason, observer)
  }
  visit.outcome.cached = 'BYPASS'
  visit.observers ??= []
  visit.observers.push(observer)
}
