import { Button } from '../../../parts/button.tsx'
import { CopyField } from '../../../parts/copy-field.tsx'
import { told } from '../../../parts/toasts.tsx'
import { domainsTexts as texts } from '../../../texts/site/domains.ts'

/** A record that the person creates at a DNS provider. */
export interface DnsLine {
  readonly type: string
  readonly host: string
  readonly value: string
}

const lineOf = ({ type, host, value }: DnsLine): string => `${host} ${type} ${value}`

/** DNS records to create. Each part can be copied, or all of them at once. */
export const Records = ({ of }: { readonly of: readonly DnsLine[] }) => (
  <>
    <div class="records">
      {[texts.type, texts.host, texts.value].map((each) => (
        <span key={each} class="quiet">
          {each}
        </span>
      ))}
      {of.map((line) => (
        <RecordLine key={lineOf(line)} line={line} />
      ))}
    </div>
    {of.length > 0 && (
      <p class="row">
        <Button
          isSmall
          icon="copy"
          onClick={() => void navigator.clipboard?.writeText(of.map(lineOf).join('\n')).then(() => told(texts.copied))}
        >
          {texts.copyAll}
        </Button>
      </p>
    )}
  </>
)

const RecordLine = ({ line: { type, host, value } }: { readonly line: DnsLine }) => (
  <>
    <span class="badge">{type}</span>
    <CopyField value={host} of={texts.copyHost} />
    <span class="copied">
      <CopyField value={value} of={texts.copyValue(value)} />
    </span>
  </>
)
