import { constants } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'

/** Mozilla's intermediate profile: TLS 1.3, and 1.2 only with forward secrecy and authenticated encryption. */
export const profile: SecureContextOptions = {
  // TLS 1.1 and earlier know none of them.
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  ecdhCurve: 'X25519MLKEM768:X25519:prime256v1:secp384r1',
  // The fastest first. Phones without AES instructions put ChaCha20 first, and get it.
  honorCipherOrder: true,
  secureOptions:
    constants.SSL_OP_NO_RENEGOTIATION |
    constants.SSL_OP_NO_COMPRESSION |
    constants.SSL_OP_CIPHER_SERVER_PREFERENCE |
    constants.SSL_OP_PRIORITIZE_CHACHA,
  // The same in all edge processes, so that a session can resume in another one.
  sessionIdContext: 'stead-edge',
}
