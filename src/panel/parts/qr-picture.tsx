import { qrCode } from './qr.ts'

/** The light margin around a code, which scanners need. */
const QUIET = 4

/** A text as a QR code, dark on light in both themes, because scanners need that. */
export function QrPicture({ text, label }: { readonly text: string; readonly label: string }) {
  const code = qrCode(text)
  const size = code.length + 2 * QUIET
  const path = code
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : '')))
    .join('')
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
