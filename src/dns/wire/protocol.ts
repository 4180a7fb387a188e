/* Numbers of the protocol that Stead uses, by their names in IANA's registry. */

export const Type = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  DS: 43,
  SSHFP: 44,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  TLSA: 52,
  CDS: 59,
  CDNSKEY: 60,
  HTTPS: 65,
  NXNAME: 128,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
  CAA: 257,
} as const

export const Class = { IN: 1, ANY: 255 } as const

export const Opcode = { QUERY: 0, NOTIFY: 4 } as const

export const Rcode = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
  BADVERS: 16,
} as const

/** Codes in a TSIG record (RFC 8945 §3). */
export const TsigError = { NONE: 0, BADSIG: 16, BADKEY: 17, BADTIME: 18 } as const

export const HeaderFlag = { QR: 0x8000, AA: 0x0400, TC: 0x0200, RD: 0x0100 } as const

export const HEADER_BYTES = 12

/** The largest answer over UDP without EDNS (RFC 1035), and with it. The latter avoids fragments on any usual path. */
export const PLAIN_UDP_BYTES = 512
export const MOST_UDP_BYTES = 1232
