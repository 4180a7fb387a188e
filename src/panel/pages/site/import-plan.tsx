import { useRef } from 'preact/hooks'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { sizeOf } from '../../size.ts'
import { importsTexts as texts } from '../../texts/site/imports.ts'
import { DeleteImport } from './delete-import.tsx'
import type { Import, PartProps } from './part.ts'

type Plan = components['schemas']['ImportPlan']

const isFixed = (reason: Plan['leftOut'][number]['reason']) => reason === 'drop-in' || reason === 'platform'

/** The plan of an import: what it does, what it leaves out, and the button that starts it. */
export function ImportPlan({
  id,
  current,
  plan,
  reload,
}: PartProps & { readonly current: Import; readonly plan: Plan; reload(): Promise<void> }) {
  const boxes = useRef<HTMLFieldSetElement>(null)
  const start = askFirst({
    title: texts.startTitle,
    text: texts.startIs(plan.from.home),
    button: texts.start,
    async go() {
      const chosen = [...(boxes.current?.querySelectorAll<HTMLInputElement>('input:checked') ?? [])]
      const params = { path: { site_id: id, import_id: current.id } }
      const body = { leave_out: chosen.map(({ value }) => value) }
      await ask(() => api.POST('/v1/sites/{site_id}/imports/{import_id}/start', { params, body }))
      await reload()
    },
  })
  return (
    <section class="sheet">
      <h2>{texts.plan}</h2>
      <Notes title={texts.blockers} of={plan.blockers} isBad />
      <Notes title={texts.warnings} of={plan.warnings} />
      <Facts of={plan} />
      {plan.leftOut.length > 0 && (
        <>
          <h3>{texts.leftOut}</h3>
          <p class="quiet">{texts.leftOutIs}</p>
          <fieldset class="boxes single" ref={boxes} aria-label={texts.leftOut}>
            {plan.leftOut.map(({ path, reason }) => (
              <label key={path}>
                <input type="checkbox" value={path} defaultChecked disabled={isFixed(reason)} /> <code>{path}</code>{' '}
                <small class="quiet">{texts.reasons[reason]}</small>
              </label>
            ))}
          </fieldset>
        </>
      )}
      <Plugins of={plan.plugins} />
      <p class="row">
        {plan.blockers.length === 0 && (
          <Button of="startImport" isMain onClick={start}>
            {texts.start}
          </Button>
        )}
        <DeleteImport id={id} importId={current.id} onDone={reload} />
      </p>
    </section>
  )
}

const Notes = (props: { readonly title: string; readonly of: readonly string[]; readonly isBad?: boolean }) =>
  props.of.length > 0 && (
    <>
      <h3>{props.title}</h3>
      <ul class={props.isBad ? 'notes fault' : 'notes'}>
        {props.of.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </>
  )

function Facts({
  of: { format, from, to, files, database, addresses, themes, mustUsePlugins },
}: {
  readonly of: Plan
}) {
  const { facts } = texts
  const rows = [
    [facts.from, texts.planOf(from.title, from.home)],
    [facts.made, texts.formatOf[format]],
    [facts.versions, texts.versions(from.wordpress, from.php)],
    [facts.to, to.address],
    [facts.runs, texts.versions(to.wordpress, to.php)],
    [facts.files, texts.filesOf(files.count, sizeOf(files.bytes))],
    [facts.database, texts.databaseOf(database.tables, database.rows, sizeOf(database.bytes))],
    [facts.prefix, database.prefix],
    [facts.addresses, addresses.map((each) => texts.rewritten(each.from, each.to)).join('\n') || texts.none],
    [facts.themes, themes.join(', ') || texts.none],
    [facts.mustUse, mustUsePlugins.join(', ') || texts.none],
  ] as const
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <>
          <dt key={name}>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  )
}

const Plugins = ({ of }: { readonly of: Plan['plugins'] }) =>
  of.length > 0 && (
    <details>
      <summary>{texts.plugins(of.length)}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
      <section class="scroll" tabIndex={0} aria-label={texts.plugins(of.length)}>
        <table>
          <thead>
            <tr>
              {texts.pluginHead.map((each) => (
                <th key={each} scope="col">
                  {each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {of.map(({ path, name, version, isActive, note }) => (
              <tr key={path}>
                <td>{name}</td>
                <td>{version}</td>
                <td>{isActive ? texts.active : texts.inactive}</td>
                <td>{note}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
