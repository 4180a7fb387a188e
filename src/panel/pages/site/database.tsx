import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Callout } from '../../parts/callout.tsx'
import { Card } from '../../parts/card.tsx'
import { HeadActions } from '../../parts/head-actions.tsx'
import { May } from '../../parts/rights.tsx'
import { Stat } from '../../parts/stat.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { sizeOf } from '../../size.ts'
import { commonTexts } from '../../texts/common.ts'
import { databaseTexts as texts } from '../../texts/site/database.ts'
import { agoOf, timeOf } from '../../time.ts'
import { openDatabase } from '../open-database.ts'
import type { PartProps } from './part.ts'

/** The database of a site: its size, its tables, and its backups. */
export function DatabasePage({ id, act }: PartProps) {
  const params = { path: { site_id: id } }
  const use = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/statistics', { params })), [id])
  const known = use.got.value?.data
  const backUp = act(texts.about, () => {
    const body = { backup_type: 'db' as const }
    return ask(() => api.POST('/v1/sites/{id}/ondemand-backups', { params: { path: { id } }, body }))
  })
  return (
    <>
      <HeadActions>
        <Button icon="archive" of="createOndemandBackup" onClick={backUp}>
          {texts.backUp}
        </Button>
        <Button isMain icon="externalLink" of="getDatabaseAdminUrl" onClick={attempt(() => openDatabase(id))}>
          {texts.open}
        </Button>
      </HeadActions>
      <div class="grid-12">
        <Stat
          class="s6"
          label={texts.size}
          value={known ? sizeOf(known.databaseUsageBytes) : commonTexts.unknown}
          note={known && texts.size30(sizeOf(known.databaseUsageBytes + known.fileSystemUsageBytes))}
        />
        <May do="listDatabaseBackups" what={texts.newest}>
          <Newest id={id} />
        </May>
        <Card class="s12" title={texts.tool}>
          <div class="stack-14">
            <p>{texts.toolIs}</p>
            <p class="quiet">{texts.link}</p>
            <Callout kind="warn">{texts.care}</Callout>
            <p class="row">
              <Button icon="externalLink" of="getDatabaseAdminUrl" onClick={attempt(() => openDatabase(id))}>
                {texts.open}
              </Button>
            </p>
          </div>
        </Card>
      </div>
    </>
  )
}

function Newest({ id }: { readonly id: number }) {
  const params = { path: { site_id: id } }
  const backups = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/backups/db', { params })), [id])
  const newest = backups.got.value?.data[0]
  return (
    <Stat
      class="s6"
      label={texts.newest}
      value={newest ? agoOf(newest.formatted_timestamp) : texts.none}
      note={newest && timeOf(newest.formatted_timestamp)}
    >
      <a href={`#/sites/${id}/backups`}>{texts.restore}</a>
    </Stat>
  )
}
