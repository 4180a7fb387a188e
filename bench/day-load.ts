/**
 * The visitors and callers of a simulated day, and the server whose pages they request. Each is a separate process,
 * which nothing else delays.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'

/** Per site and day. Visits are the mean of all sites. */
export const A_DAY = { visits: 100, reads: 10, edits: 2, purges: 1 }
export const HOURS = 24
/** The most in flight. Further ones are counted as not sent. */
const MOST_AT_ONCE = { visits: 256, calls: 64 }
const PAGE = Buffer.from(`<!doctype html><title>A page</title><p>${'word '.repeat(6000)}`)

export interface DayPlan {
  readonly apiUrl: string
  readonly token: string
  readonly edgePort: number
  readonly siteIds: readonly number[]
  /** Sites `real-0`, `real-1`, …; the others are `idle-0`, `idle-1`, …. */
  readonly real: number
  readonly minutes: number
  /** The share of the visits and calls of a day. */
  readonly share: number
}

/** The results of one hour of the day, times in milliseconds. */
export interface Hour {
  readonly visits: number[]
  readonly pages: number[]
  readonly reads: number[]
  readonly writes: number[]
  /** Counts by target and status. 0: no complete answer. */
  readonly failed: Map<string, number>
  unsent: number
  /** The longest delay of the visitors' own process. Shorter times say nothing about Stead. */
  heldMs: number
}

/**
 * Simulates a day.
 * @param each receives each hour after it has ended
 */
export async function passDay(plan: DayPlan, each: (hour: Hour) => void): Promise<void> {
  const visitors = fork(import.meta.filename, ['--part', 'visitors'], { serialization: 'advanced' })
  const ended = once(visitors, 'exit')
  visitors.on('message', each)
  visitors.send(plan)
  const [code] = await ended
  if (code !== 0) throw new Error(`the visitors ended with ${code}`)
}

class Visitors {
  readonly #plan: DayPlan
  readonly #agent = new Agent({ keepAlive: true })
  #hour = newHour()
  #visiting = 0
  #calling = 0

  constructor(plan: DayPlan) {
    this.#plan = plan
  }

  async pass(each: (hour: Hour) => void): Promise<void> {
    const msAnHour = (this.#plan.minutes * 60_000) / HOURS
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const due = { visits: 0, reads: 0, edits: 0, purges: 0 }
    for (let hour = 0, before = performance.now(), end = before; hour < HOURS; hour++) {
      this.#hour = newHour()
      delay.reset()
      end += msAnHour
      // Noon has nine times as much as midnight.
      const weight = 1 - 0.8 * Math.cos((2 * Math.PI * (hour + 0.5)) / HOURS)
      while (before < end) {
        await pause(10)
        const now = performance.now()
        const share = ((now - before) / msAnHour / HOURS) * weight * this.#plan.siteIds.length * this.#plan.share
        before = now
        for (const kind of Object.keys(due) as (keyof typeof due)[]) {
          due[kind] += A_DAY[kind] * share
          for (; due[kind] >= 1; due[kind]--) this.#do(kind)
        }
      }
      this.#hour.heldMs = delay.max / 1e6
      each(this.#hour)
    }
    this.#agent.destroy()
  }

  #do(kind: keyof typeof A_DAY): void {
    if (kind === 'visits') return void this.#visit()
    const { siteIds } = this.#plan
    const path = `/v1/sites/${siteIds[Math.floor(Math.random() * siteIds.length)]}`
    if (kind === 'reads') void this.#call('reads', 'GET', path)
    else if (kind === 'edits')
      void this.#call('writes', 'PUT', path, JSON.stringify({ name: `Edited ${Math.random()}` }))
    else void this.#call('writes', 'DELETE', `${path}/edge-cache`)
  }

  async #visit(): Promise<void> {
    const hour = this.#hour
    if (this.#visiting >= MOST_AT_ONCE.visits) {
      hour.unsent++
      return
    }
    this.#visiting++
    const { real, siteIds, edgePort } = this.#plan
    const rank = zipf(siteIds.length)
    // A fixed share of the ranks are real sites.
    const step = Math.max(1, Math.floor(siteIds.length / Math.max(1, real)))
    const isReal = real > 0 && rank % step === 0 && rank / step < real
    const host = `${isReal ? `real-${rank / step}` : `idle-${rank % (siteIds.length - real)}`}.localhost:${edgePort}`
    const path = isReal ? '/' : `/page-${zipf(5)}/`
    const began = performance.now()
    const status = await this.#ask(`http://127.0.0.1:${edgePort}${path}`, 'GET', { host })
    if (status === 200) (isReal ? hour.pages : hour.visits).push(performance.now() - began)
    else count(hour, `visits ${status}`)
    this.#visiting--
  }

  async #call(kind: 'reads' | 'writes', method: string, path: string, body?: string): Promise<void> {
    const hour = this.#hour
    if (this.#calling >= MOST_AT_ONCE.calls) {
      hour.unsent++
      return
    }
    this.#calling++
    const began = performance.now()
    const headers = { authorization: `Bearer ${this.#plan.token}`, ...(body && { 'content-type': 'application/json' }) }
    const status = await this.#ask(`${this.#plan.apiUrl}${path}`, method, headers, body)
    if (status >= 200 && status < 300) hour[kind].push(performance.now() - began)
    else count(hour, `${kind} ${status}`)
    this.#calling--
  }

  /** @returns its status, or 0 without a complete answer */
  #ask(url: string, method: string, headers: Record<string, string>, body?: string): Promise<number> {
    return new Promise((resolve) => {
      request(url, { agent: this.#agent, method, headers }, (response) => {
        response.resume()
        response.once('end', () => resolve(response.statusCode ?? 0)).once('error', () => resolve(0))
      })
        .once('error', () => resolve(0))
        .end(body)
    })
  }
}

const newHour = (): Hour => ({ visits: [], pages: [], reads: [], writes: [], failed: new Map(), unsent: 0, heldMs: 0 })

const count = ({ failed }: Hour, what: string) => failed.set(what, (failed.get(what) ?? 0) + 1)

/** Returns numbers from 0, the n-th in proportion to 1/n. */
const zipf = (most: number): number => Math.floor((most + 1) ** Math.random()) - 1

const parts: Record<string, () => Promise<void>> = {
  async origin() {
    const headers = { 'content-type': 'text/html; charset=UTF-8', 'content-length': PAGE.length }
    const server = createServer((_request, response) => {
      response.writeHead(200, { ...headers, 'x-stead-renderer': 'php' }).end(PAGE)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    process.send?.((server.address() as AddressInfo).port)
  },
  async visitors() {
    const [plan] = (await once(process, 'message')) as [DayPlan]
    await new Visitors(plan).pass((hour) => process.send?.(hour))
    process.disconnect?.()
  },
}

if (process.argv[2] === '--part') await parts[process.argv[3] as string]?.()
