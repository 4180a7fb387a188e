const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Formats a number of bytes for people. */
export function sizeOf(bytes: number): string {
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = (bytes / 1000 ** step).toLocaleString(undefined, { maximumFractionDigits: step === 0 ? 0 : 1 })
  return `${value} ${units[step]}`
}
