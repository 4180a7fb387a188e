import { expect, test } from 'vitest'
import { mediaType } from './media-types.ts'

test.each([
  ['style.css', 'text/css; charset=utf-8'],
  ['app.min.js', 'text/javascript; charset=utf-8'],
  ['module.mjs', 'text/javascript; charset=utf-8'],
  ['INDEX.HTML', 'text/html; charset=utf-8'],
  ['folder.js/plain.txt', 'text/plain; charset=utf-8'],
  ['de_DE.po', 'text/plain; charset=utf-8'],
  ['plugin.pot', 'text/plain; charset=utf-8'],
  ['contact.vcf', 'text/vcard; charset=utf-8'],
  ['sitemap.xml', /^(application|text)\/xml; charset=utf-8$/],
  ['site.webmanifest', 'application/manifest+json; charset=utf-8'],
  ['script.js.map', 'application/json; charset=utf-8'],
  ['logo.svg', 'image/svg+xml; charset=utf-8'],
  ['logo.svgz', /^image\/svg\+xml/],
  ['photo.JPEG', 'image/jpeg'],
  ['photo.webp', 'image/webp'],
  ['photo.avif', 'image/avif'],
  ['favicon.ico', /^image\/(x-icon|vnd\.microsoft\.icon)$/],
  ['film.mp4', 'video/mp4'],
  ['film.m4v', 'video/mp4'],
  ['sound.mp3', 'audio/mpeg'],
  ['sound.flac', 'audio/flac'],
  ['font.woff2', 'font/woff2'],
  ['paper.pdf', 'application/pdf'],
  ['code.wasm', 'application/wasm'],
  ['backup.zip', 'application/zip'],
  ['archive.tar.gz', 'application/gzip'],
])('%s: %s', (name, expected) => {
  if (typeof expected === 'string') expect(mediaType(name)).toBe(expected)
  else expect(mediaType(name)).toMatch(expected)
})

test.each(['LICENSE', 'html', '.html', 'a.html/LICENSE', 'db.sqlite-wal', 'file.', 'x.constructor', ''])(
  'sends %j as a download, because its extension is missing or unknown',
  (name) => {
    expect(mediaType(name)).toBe('application/octet-stream')
  },
)
