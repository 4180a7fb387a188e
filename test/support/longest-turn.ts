/**
 * Runs `work`, and measures the longest time in which this thread handled nothing else, in processor time, which a busy
 * machine does not change.
 * @returns milliseconds
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const used = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let before = used()
  let longest = 0
  const look = () => {
    const now = used()
    longest = Math.max(longest, now - before)
    before = now
  }
  const timer = setInterval(look, 5)
  try {
    await work()
    look()
  } finally {
    clearInterval(timer)
  }
  return longest
}
