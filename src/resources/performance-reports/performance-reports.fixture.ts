import type { Tx } from '../../platform/db/database.ts'
import type { Measurement } from './measured.ts'
import { insertReport } from './report.store.ts'
import { type Measured, measuredFields } from './report.ts'

export const measured: Measured = Object.fromEntries(measuredFields.map((name) => [name, null]))

export const madeMeasurement: Measurement = {
  measured,
  opportunities: [],
  thumbnail: Buffer.from([0xff, 0xd8, 0xff]).toString('base64'),
}

/** A shortened result of a browser. */
export const measuredPage = {
  finalDisplayedUrl: 'http://s1.example.com/',
  lighthouseVersion: '13.5.0',
  fetchTime: '2026-01-31T09:30:00.000Z',
  categories: {
    performance: { title: 'Performance', score: 0.98 },
    accessibility: { title: 'Accessibility', score: 1 },
    'best-practices': { title: 'Best Practices', score: 0.79 },
    seo: { title: 'SEO', score: null },
  },
  audits: {
    'first-contentful-paint': {
      title: 'First Contentful Paint',
      description: 'Marks the time at which the first text or image is painted.',
      score: 0.9,
      displayValue: '1.2 s',
      numericValue: 1203.4,
      numericUnit: 'millisecond',
    },
    'cache-insight': { title: 'Use efficient cache lifetimes', score: 0, metricSavings: { FCP: 0, LCP: 100 } },
    'render-blocking-insight': {
      title: 'Render blocking requests',
      description: 'Requests are blocking the initial render of the page.',
      score: 0.5,
      displayValue: 'Est savings of 150 ms',
      metricSavings: { FCP: 150, LCP: 150 },
    },
    'font-display-insight': { title: 'Font display', score: 1, metricSavings: { FCP: 900 } },
    'final-screenshot': { details: { type: 'screenshot', data: 'data:image/jpeg;base64,/9j/4AAQ' } },
  },
}

/** @returns its id */
export const withReportIn = (tx: Tx, siteId: number): Promise<number> =>
  insertReport(tx, siteId, { desktop: madeMeasurement, mobile: madeMeasurement }, 1)
