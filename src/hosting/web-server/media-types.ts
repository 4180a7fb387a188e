/** Types of the files that WordPress, its themes and its media library serve; anything else is a download. */
const TYPES: Record<string, string> = {
  // biome-ignore format: a table
  ...{
    avif: 'image/avif', bmp: 'image/bmp', gif: 'image/gif', heic: 'image/heic', heif: 'image/heif', ico: 'image/x-icon',
    jpe: 'image/jpeg', jpeg: 'image/jpeg', jpg: 'image/jpeg', png: 'image/png', svg: 'image/svg+xml', tif: 'image/tiff',
    tiff: 'image/tiff', webp: 'image/webp',
    aac: 'audio/aac', flac: 'audio/flac', m4a: 'audio/mp4', mid: 'audio/midi', midi: 'audio/midi', mp3: 'audio/mpeg',
    oga: 'audio/ogg', ogg: 'audio/ogg', opus: 'audio/ogg', wav: 'audio/wav', weba: 'audio/webm',
    '3gp': 'video/3gpp', avi: 'video/x-msvideo', m4v: 'video/mp4', mkv: 'video/x-matroska', mov: 'video/quicktime',
    mp4: 'video/mp4', mpeg: 'video/mpeg', mpg: 'video/mpeg', ogv: 'video/ogg', webm: 'video/webm', wmv: 'video/x-ms-wmv',
    eot: 'application/vnd.ms-fontobject', otf: 'font/otf', ttf: 'font/ttf', woff: 'font/woff', woff2: 'font/woff2',
    css: 'text/css', csv: 'text/csv', htm: 'text/html', html: 'text/html', ics: 'text/calendar', js: 'text/javascript',
    mjs: 'text/javascript', md: 'text/markdown', po: 'text/plain', pot: 'text/plain', text: 'text/plain', txt: 'text/plain',
    vcf: 'text/vcard', vtt: 'text/vtt', xsl: 'text/xsl',
    atom: 'application/atom+xml', geojson: 'application/geo+json', json: 'application/json', jsonld: 'application/ld+json',
    map: 'application/json', rss: 'application/rss+xml', webmanifest: 'application/manifest+json', xml: 'application/xml',
    '7z': 'application/x-7z-compressed', bz2: 'application/x-bzip2', gz: 'application/gzip', tar: 'application/x-tar',
    wasm: 'application/wasm', zip: 'application/zip', rar: 'application/vnd.rar',
    doc: 'application/msword', odp: 'application/vnd.oasis.opendocument.presentation',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ods: 'application/vnd.oasis.opendocument.spreadsheet', odt: 'application/vnd.oasis.opendocument.text',
    epub: 'application/epub+zip', pdf: 'application/pdf', ppt: 'application/vnd.ms-powerpoint',
    pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation', rtf: 'application/rtf',
    xls: 'application/vnd.ms-excel', xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
}

/** `Content-Type` by the ending of a file name; text is UTF-8. */
export function mediaType(name: string): string {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
  return /^text\/|json$|xml$/.test(type) ? `${type}; charset=utf-8` : type
}
