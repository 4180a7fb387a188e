import type { Progress } from '../../platform/terminal/progress-bar.ts'
import type { CoreProgress } from './core-source.ts'

const doing: Record<CoreProgress['phase'], string> = {
  resolving: 'Looking for WordPress',
  downloading: 'Downloading WordPress',
  verifying: 'Verifying WordPress',
  unpacking: 'Unpacking WordPress',
}

/** Describes the activity of a source. */
export const describeCoreProgress = ({ phase, source, receivedBytes, totalBytes }: CoreProgress): Progress => ({
  doing: doing[phase],
  from: source,
  receivedBytes,
  totalBytes,
})
