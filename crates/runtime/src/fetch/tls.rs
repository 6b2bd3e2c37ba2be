//! Whom TLS trusts: the roots of Mozilla's programme, which are compiled in, those of the system where it has any, and
//! those of one more file. So https works on a machine that holds nothing but this program.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

use super::ConfigError;

/// The settings of TLS; `ca_file` holds more roots, as PEM.
pub(super) fn config(ca_file: Option<&Path>) -> Result<ClientConfig, ConfigError> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    // A system without certificates is no fault, and one that cannot be parsed does not spoil the others.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = ca_file {
        let unusable = |error: &dyn std::fmt::Display| ConfigError(format!("`{}`: {error}", path.display()));
        let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))?;
        let before = roots.len();
        for certificate in certificates {
            let certificate = certificate.map_err(|error| unusable(&error))?;
            roots.add(certificate).map_err(|error| unusable(&error))?;
        }
        if roots.len() == before {
            return Err(unusable(&"it holds no certificate in PEM form"));
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| ConfigError(format!("TLS: {error}")))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
