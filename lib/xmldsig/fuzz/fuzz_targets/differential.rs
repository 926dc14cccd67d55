//! Calls libxml2 through the few declarations below, because its Rust bindings need a C compiler at build time.

#![no_main]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use libfuzzer_sys::{Corpus, fuzz_target};
use xmldsig::Method;

#[link(name = "xml2")]
unsafe extern "C" {
    fn xmlReadMemory(buffer: *const c_char, size: c_int, url: *const c_char, encoding: *const c_char, options: c_int) -> *mut c_void;
    fn xmlC14NDocDumpMemory(
        document: *mut c_void,
        nodes: *mut c_void,
        mode: c_int,
        prefixes: *mut *mut u8,
        with_comments: c_int,
        output: *mut *mut u8,
    ) -> c_int;
    fn xmlFreeDoc(document: *mut c_void);
    static xmlFree: extern "C" fn(*mut c_void);
}

/// `NOENT`, `NOERROR`, `NOWARNING`, `NONET`, `NOCDATA`: as `xmllint --c14n` reads, without network and messages.
const OPTIONS: c_int = 1 << 1 | 1 << 5 | 1 << 6 | 1 << 11 | 1 << 14;

fn libxml2(xml: &[u8], method: Method) -> Option<Vec<u8>> {
    let size = c_int::try_from(xml.len()).ok()?;
    let mode = match method {
        Method::Inclusive => 0,
        Method::Exclusive => 1,
    };
    // SAFETY: the buffer outlives the call, the document is checked and freed once, and the output has the returned
    // number of bytes.
    unsafe {
        let document = xmlReadMemory(xml.as_ptr().cast(), size, null(), null(), OPTIONS);
        if document.is_null() {
            return None;
        }
        let mut output = null_mut();
        let length = xmlC14NDocDumpMemory(document, null_mut(), mode, null_mut(), 0, &mut output);
        let bytes = usize::try_from(length).ok().map(|length| std::slice::from_raw_parts(output, length).to_vec());
        if !output.is_null() {
            xmlFree(output.cast());
        }
        xmlFreeDoc(document);
        bytes
    }
}

fuzz_target!(|xml: &[u8]| -> Corpus {
    if xmldsig_fuzz::differential(xml, libxml2) {
        Corpus::Keep
    } else {
        Corpus::Reject
    }
});
