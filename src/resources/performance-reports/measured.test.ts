import { describe, expect, test } from 'vitest'
import { readMeasurement } from './measured.ts'
import { measuredPage } from './performance-reports.fixture.ts'
import { measuredFields } from './report.ts'

describe('the result of a browser', () => {
  test('has the names of the API', () => {
    const found = readMeasurement(measuredPage)
    expect(Object.keys(found?.measured ?? {})).toEqual(measuredFields)
    expect(found?.measured).toMatchObject({
      final_url: 'http://s1.example.com/',
      performance_score: 0.98,
      best_practices_title: 'Best Practices',
      seo_score: null,
      first_contentful_paint_title: 'First Contentful Paint',
      first_contentful_paint_display_value: '1.2 s',
      first_contentful_paint_numeric_value: '1203.4',
      first_contentful_paint_numeric_unit: 'millisecond',
      speed_index_score: null,
      fetch_time: '2026-01-31T09:30:00.000Z',
    })
    expect(found?.thumbnail).toBe('/9j/4AAQ')
  })

  test('lists what to improve by savings, and leaves out what is good', () => {
    expect(readMeasurement(measuredPage)?.opportunities).toEqual([
      {
        title: 'Render blocking requests',
        description: 'Requests are blocking the initial render of the page.',
        display_value: 'Est savings of 150 ms',
      },
      { title: 'Use efficient cache lifetimes', description: null, display_value: null },
    ])
  })

  test.each([
    null,
    'text',
    [],
    {},
    { ...measuredPage, categories: 5 },
    { ...measuredPage, runtimeError: { code: 'NO_FCP' } },
  ])('rejects what is not a result: %j', (result) => expect(readMeasurement(result)).toBeUndefined())

  test('is not trusted', () => {
    const hostile = {
      ...measuredPage,
      finalDisplayedUrl: 'x'.repeat(1e6),
      lighthouseVersion: 'a\0b\ud800',
      fetchTime: 'yesterday',
      categories: { performance: { title: {}, score: 1 }, seo: { title: 'SEO', score: 7 } },
      audits: {
        'dom-size-insight': { title: 'x'.repeat(1e5), score: 0, metricSavings: { LCP: '9' } },
        'cache-insight': { title: {}, score: 0 },
        'unused-css-rules': { title: 'a', score: 9 },
        interactive: { numericValue: '1', displayValue: ['x'], score: Number.NaN },
        'final-screenshot': { details: { data: `data:image/jpeg;base64,${btoa('<script>')}` } },
      },
    }
    const found = readMeasurement(hostile)
    expect(found?.measured).toMatchObject({
      lighthouse_version: 'ab\ufffd',
      fetch_time: null,
      performance_title: null,
      seo_score: null,
      interactive_numeric_value: null,
      interactive_display_value: null,
      interactive_score: null,
    })
    expect(String(found?.measured.final_url).length).toBe(2000)
    expect(found?.opportunities.map(({ title }) => title.length)).toEqual([2000])
    expect(found?.thumbnail).toBeNull()
    const ofOtherKind = { 'final-screenshot': { details: { data: `data:image/png;base64,${'A'.repeat(4)}/9j/` } } }
    expect(readMeasurement({ ...measuredPage, audits: ofOtherKind })?.thumbnail).toBeNull()
    const large = { 'final-screenshot': { details: { data: `data:image/jpeg;base64,/9j/${'A'.repeat(1 << 20)}` } } }
    expect(readMeasurement({ ...measuredPage, audits: large })?.thumbnail).toBeNull()
  })
})
