import { useSignal } from '@preact/signals'

interface ThumbProps {
  readonly id: number
  readonly isBig?: boolean
  /** Path of a screenshot of the site, if there is one. */
  readonly picture?: string | null | undefined
}

/** A screenshot of the site, else a small drawing in a color of its own, which distinguishes sites at a glance. */
export function Thumb({ id, isBig = false, picture }: ThumbProps) {
  const failed = useSignal('')
  if (!picture || failed.value === picture) return <Drawn id={id} isBig={isBig} />
  return (
    <img
      class={`thumb ${isBig ? 'big' : ''}`}
      src={picture}
      alt=""
      loading="lazy"
      decoding="async"
      onError={() => {
        failed.value = picture
      }}
    />
  )
}

function Drawn({ id, isBig }: { readonly id: number; readonly isBig: boolean }) {
  const hue = (id * 137) % 360
  return (
    <svg class={`thumb ${isBig ? 'big' : ''}`} viewBox="0 0 48 32" aria-hidden="true">
      <rect width="48" height="32" fill={`hsl(${hue} 38% 42%)`} />
      <g fill="#fff">
        <rect x="6" y="6" width="16" height="3" rx="1.5" fill-opacity=".85" />
        <rect x="6" y="12" width="32" height="2.5" rx="1.25" fill-opacity=".5" />
        <rect x="6" y="17" width="26" height="2.5" rx="1.25" fill-opacity=".5" />
        <rect x="6" y="23" width="10" height="5" rx="1.5" fill-opacity=".85" />
      </g>
    </svg>
  )
}
