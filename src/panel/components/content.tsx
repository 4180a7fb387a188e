import { AlertState } from '../parts/alert-state.tsx'
import { Callout } from '../parts/callout.tsx'
import { Card } from '../parts/card.tsx'
import { Change, Changes } from '../parts/changes.tsx'
import { Chart } from '../parts/chart.tsx'
import { Empty } from '../parts/empty.tsx'
import { Skeleton } from '../parts/list.tsx'
import { MonitoringState } from '../parts/monitoring-state.tsx'
import { WorkState } from '../parts/progress.tsx'
import { QrPicture } from '../parts/qr-picture.tsx'
import { Spark } from '../parts/spark.tsx'
import { Stat } from '../parts/stat.tsx'
import { StateOf } from '../parts/state-of.tsx'
import { Step, Steps } from '../parts/steps.tsx'
import { Thumb } from '../parts/thumb.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { UptimeBars } from '../parts/uptime-bars.tsx'
import type { Operation } from '../parts/work.ts'
import { Written } from '../parts/written.tsx'
import { stateTexts } from '../texts/parts.ts'
import { Specimen } from './specimen.tsx'

const labels = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
/** Stands for a screenshot. */
const picture =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 96 128%22%3E%3Crect width=%2296%22 height=%22128%22 fill=%22%23fff%22/%3E%3Crect width=%2296%22 height=%2240%22 fill=%22%238ac%22/%3E%3C/svg%3E'
const visits = [120, 180, 90, 240, 310, 60, 40]

const Numbers = () => (
  <>
    <Specimen name="Stat with sparkline">
      <div class="grid-12">
        <Stat label="Visits" value="1,040" note="30 days">
          <Spark values={visits} />
        </Stat>
        <Stat label="Storage" value="2.1 GB" />
      </div>
    </Specimen>
    <Specimen name="Chart">
      <div class="grid-12">
        <Card class="s6" title="Bars">
          <Chart
            label="Visits by day"
            labelsHead="Day"
            labels={labels}
            series={[
              { name: 'Visits', values: visits },
              { name: 'Visitors', values: visits.map((count) => Math.round(count / 3)) },
            ]}
          />
        </Card>
        <Card class="s6" title="Line">
          <Chart
            label="Score by day"
            labelsHead="Day"
            labels={labels}
            kind="line"
            most={100}
            series={[{ name: 'Score', values: [80, 82, null, 85, 91, 90, 94] }]}
          />
        </Card>
      </div>
    </Specimen>
  </>
)

const operation = (state: string, rest: object = {}) =>
  ({ id: 1, state, progress: 40, steps: [], ...rest }) as object as Operation

const Work = () => (
  <Specimen name="Progress">
    <div class="columns">
      {[
        operation('queued', { progress: 0 }),
        operation('running'),
        operation('succeeded', { progress: 100, finishedAt: '2026-01-01T00:00:00Z' }),
        operation('failed', { error: 'The host does not respond.', finishedAt: '2026-01-01T00:00:00Z' }),
      ].map((each) => (
        <div key={each.state} class="sheet">
          <WorkState about="Back up my-shop" operation={each} />
        </div>
      ))}
    </div>
  </Specimen>
)

const Sequences = () => (
  <>
    <Specimen name="Steps">
      <Steps label="Steps of a domain">
        <Step state="done" title="Add the domain" />
        <Step state="now" title="Set its DNS records">
          <p class="quiet">What to do</p>
        </Step>
        <Step state="failed" title="Reach the site" />
        <Step state="todo" title="Get a certificate" />
      </Steps>
    </Specimen>
    <Specimen name="Changes">
      <Changes label="Changes of a restore">
        <Change kind="added">2 files</Change>
        <Change kind="changed" details={<p>wp-config.php</p>}>
          1 file
        </Change>
        <Change kind="deleted">3 files</Change>
        <Change kind="kept">120 files</Change>
        <Change kind="skipped">1 file that is too large</Change>
      </Changes>
    </Specimen>
    <Specimen name="Timeline">
      <div class="card">
        <Timeline
          of={[
            { key: 1, icon: 'archive', text: 'Backup created', about: 'anna@example.com · 1 hour ago' },
            { key: 2, icon: 'plug', text: 'Plugin updated', about: 'Stead · yesterday' },
          ]}
        />
      </div>
    </Specimen>
  </>
)

export const Content = () => (
  <>
    <Specimen name="Badge and status">
      <div class="row">
        {['', 'accent', 'good', 'info', 'warn', 'bad'].map((kind) => (
          <span key={kind} class={`badge ${kind}`}>
            {kind || 'plain'}
          </span>
        ))}
      </div>
      <div class="row">
        {Object.keys(stateTexts).map((state) => (
          <StateOf key={state} site={{ state }} />
        ))}
      </div>
    </Specimen>
    <Specimen name="Uptime">
      <p class="row">
        {(['up', 'slow', 'down', 'paused', 'unknown'] as const).map((state) => (
          <MonitoringState key={state} of={{ state, detail: state === 'down' ? 'The front page answers 502' : '' }} />
        ))}
      </p>
      <UptimeBars
        percents={Array.from({ length: 90 }, (_, day) => [null, 100, 99.9, 50][day < 9 ? 0 : day % 30 || 3] ?? 100)}
      />
    </Specimen>
    <Specimen name="Alert states">
      <p class="row">
        <AlertState of={{ state: 'firing', severity: 'critical', detail: 'The front page answers 502' }} />
        <AlertState of={{ state: 'firing', severity: 'warning', detail: 'It uses 4,200 of 5,120 MB' }} />
        <AlertState of={{ state: 'resolved', severity: 'critical', detail: 'The front page answers 502' }} />
      </p>
    </Specimen>
    <Specimen name="Callout">
      <Callout>Information</Callout>
      <Callout kind="warn">Warning</Callout>
      <Callout kind="bad">Problem</Callout>
    </Specimen>
    <Numbers />
    <Work />
    <Sequences />
    <Specimen name="Empty and skeleton">
      <div class="grid-12">
        <div class="card s6">
          <Empty icon="archive" title="No backups yet" text="Stead creates one each night." />
        </div>
        <div class="s6">
          <Skeleton />
        </div>
      </div>
    </Specimen>
    <Specimen name="Thumb, QR code, written text">
      <div class="row">
        <Thumb id={1} />
        <Thumb id={2} isBig />
        <Thumb id={3} isBig picture={picture} />
        <QrPicture text="otpauth://totp/Stead" label="QR code" />
      </div>
      <Written text={'**Bold**, `code`\n\n- a list\n- of two'} />
    </Specimen>
  </>
)
