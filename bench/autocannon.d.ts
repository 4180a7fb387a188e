/** The part of autocannon that the benchmarks use. It has no types of its own. */
declare module 'autocannon' {
  interface Options {
    url: string
    method?: string
    headers?: Record<string, string>
    body?: string | Buffer
    /** Seconds. */
    duration?: number
    amount?: number
    connections?: number
    pipelining?: number
  }
  interface Result {
    '2xx': number
    non2xx: number
    errors: number
    timeouts: number
    /** Seconds. */
    duration: number
    latency: { average: number; p50: number; p97_5: number; p99: number; max: number }
    requests: { average: number; total: number }
  }
  export default function autocannon(options: Options): Promise<Result>
}
