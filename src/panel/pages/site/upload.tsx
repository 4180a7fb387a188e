import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Stead } from '../../../sdk/client.ts'
import { isOf, type UploadProgress } from '../../../sdk/upload.ts'
import { messageOf } from '../../api.ts'
import { useRefusal } from '../../parts/rights.tsx'
import { sizeOf } from '../../size.ts'
import { importsTexts as texts } from '../../texts/site/imports.ts'
import type { Import } from './part.ts'

const FORMATS = '.wpress,.daf,.zip,.tar,.gz,.tgz,.sql'

/** The upload of files for an import. */
export interface Sending {
  /** Undefined while nothing is being sent. */
  readonly shown: Signal<(UploadProgress & { readonly left: string }) | undefined>
  readonly fault: Signal<string>
  send(files: FileList | null, continues?: Import): Promise<void>
  pause(): void
}

/** Sends files in parts. Leaving the page interrupts the upload, which can be continued. */
export function useSending(id: number, onDone: () => Promise<void>): Sending {
  const fault = useSignal('')
  const shown = useSignal<(UploadProgress & { readonly left: string }) | undefined>(undefined)
  const stop = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => stop.current?.abort(), [id])
  async function send(list: FileList | null, continues?: Import): Promise<void> {
    const files = [...(list ?? [])].map((file) => ({ name: file.name, content: file }))
    fault.value = files.length === 0 ? texts.noFiles : continues && !isOf(continues, files) ? texts.otherFiles : ''
    if (fault.value) return
    const leaving = new AbortController()
    stop.current = leaving
    const leftOf = timeLeft()
    const totalBytes = files.reduce((sum, { content }) => sum + content.size, 0)
    shown.value = { importId: 0, name: files[0]?.name ?? '', sentBytes: 0, totalBytes, left: '' }
    try {
      const stead = new Stead({ url: '', headers: { 'stead-panel': '1' } })
      await stead.uploadImport(id, files, {
        ...(continues && { continue: continues }),
        signal: leaving.signal,
        onProgress: (progress) => {
          shown.value = { ...progress, left: leftOf(progress) }
        },
      })
    } catch (error) {
      if (!leaving.signal.aborted) fault.value = messageOf(error)
    } finally {
      await onDone()
      shown.value = undefined
    }
  }
  return { shown, fault, send, pause: () => stop.current?.abort() }
}

/** Estimates the remaining time from the speed so far. */
function timeLeft(): (progress: UploadProgress) => string {
  const begun = Date.now()
  let first: number | undefined
  return ({ sentBytes, totalBytes }) => {
    first ??= sentBytes
    const seconds = (Date.now() - begun) / 1000
    if (sentBytes <= first || seconds < 5) return ''
    return texts.left(Math.round((((totalBytes - sentBytes) / (sentBytes - first)) * seconds) / 60))
  }
}

/** Chooses files. */
export function ChooseFiles(props: {
  readonly sending: Sending
  readonly continues?: Import
  readonly button: string
}) {
  const { sending, continues, button } = props
  if (useRefusal('createImport', button) !== undefined) return null
  return (
    <form
      data-of="createImport"
      onSubmit={(event) => {
        event.preventDefault()
        const files = event.currentTarget.querySelector<HTMLInputElement>('input[type=file]')?.files ?? null
        void sending.send(files, continues)
      }}
    >
      <label>
        <span>{texts.files}</span>
        <input type="file" name="files" multiple accept={FORMATS} />
      </label>
      <button type="submit" class="main">
        {button}
      </button>
      <p class="fault" role="alert">
        {sending.fault.value}
      </p>
    </form>
  )
}

/** Shows the progress of an upload. */
export function Uploading({ sending: { shown, pause } }: { readonly sending: Sending }) {
  const { name = '', sentBytes = 0, totalBytes = 1, left = '' } = shown.value ?? {}
  return (
    <section class="sheet">
      <h2>{texts.uploading(name)}</h2>
      <progress max={totalBytes} value={sentBytes} aria-label={texts.uploading(name)} />
      <p role="status">{texts.uploaded(sizeOf(sentBytes), sizeOf(totalBytes), left)}</p>
      <p class="quiet">{texts.stay}</p>
      <button type="button" onClick={pause}>
        {texts.cancelUpload}
      </button>
    </section>
  )
}
