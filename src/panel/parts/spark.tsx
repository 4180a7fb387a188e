const WIDTH = 100
const HEIGHT = 32

/** A line without axes, from the oldest value to the newest. The text beside it says what it shows. */
export function Spark({ values }: { readonly values: readonly number[] }) {
  if (values.length < 2) return null
  const most = Math.max(...values, 1)
  const points = values.map(
    (value, at) =>
      `${((at / (values.length - 1)) * WIDTH).toFixed(1)} ${(HEIGHT - 1 - (value / most) * (HEIGHT - 3)).toFixed(1)}`,
  )
  const line = `M${points.join('L')}`
  return (
    <svg
      class={`spark ${values.some(Boolean) ? '' : 'none'}`.trim()}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class="area" d={`${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
      <path d={line} />
    </svg>
  )
}
